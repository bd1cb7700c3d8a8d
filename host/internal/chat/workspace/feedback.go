package workspace

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

// A Feedback is what a reader thinks of an answer, with what is needed to find out why.
type Feedback struct {
	ID       string           `json:"id"`
	At       time.Time        `json:"at"`
	Rating   string           `json:"rating"` // up or down
	Reason   string           `json:"reason"`
	Question string           `json:"question"`
	Answer   string           `json:"answer"`
	Model    string           `json:"model"`
	Files    []string         `json:"files"`    // that the answer rests on
	Searches []FeedbackSearch `json:"searches"` // of the answer, in their order
}

// A FeedbackSearch is a search of an answer, and what the model got of it.
type FeedbackSearch struct {
	IndexUID string `json:"indexUid"`
	Q        string `json:"q"`
	Filter   string `json:"filter"`
	Text     string `json:"text"`
}

// Bounds of feedback.
const (
	MaxFeedback      = 1000     // of a workspace, beyond which an old one goes
	maxFeedbackBytes = 64 << 10 // of the texts of one
	maxFeedbackList  = 64       // files, or searches, of one
)

// Check returns an [apierr.Error] where f cannot be kept, and has its lists be there.
func (f *Feedback) Check() error {
	switch {
	case f.Rating != "up" && f.Rating != "down":
		return apierr.Newf(chaterr.InvalidChatFeedback, "`rating` is %.20q: it must be up or down.", f.Rating)
	case strings.TrimSpace(f.Question) == "":
		return apierr.Newf(chaterr.InvalidChatFeedback, "`question` is empty: send the question that was answered.")
	case len(f.Files) > maxFeedbackList || len(f.Searches) > maxFeedbackList:
		return apierr.Newf(chaterr.InvalidChatFeedback, "There are %d `files` and %d `searches`: at most %d of each are kept.", len(f.Files), len(f.Searches), maxFeedbackList)
	}
	f.Files, f.Searches = append([]string{}, f.Files...), append([]FeedbackSearch{}, f.Searches...)
	texts := append([]string{f.Reason, f.Question, f.Answer, f.Model}, f.Files...)
	for _, s := range f.Searches {
		texts = append(texts, s.IndexUID, s.Q, s.Filter, s.Text)
	}
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	if size > maxFeedbackBytes {
		return apierr.Newf(chaterr.InvalidChatFeedback, "The texts have %d bytes together: at most %d are kept. Shorten the `text` of `searches`.", size, maxFeedbackBytes)
	}
	return nil
}

// An EvalQuestion is a line of a file for parley eval.
type EvalQuestion struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Kind     string   `json:"kind"`
	Files    []string `json:"file"`
}

// EvalQuestion is the question with the files that hold its answer. ok is false where f does not
// tell them: the answer was bad, or named none.
func (f *Feedback) EvalQuestion() (q EvalQuestion, ok bool) {
	return EvalQuestion{f.ID, f.Question, "feedback", f.Files}, f.Rating == "up" && len(f.Files) > 0
}

// A Sender of feedback: the uid of a key, and a caller who uses it. Both are empty for the master key.
type Sender struct{ Key, Caller string }

// Feedbacks keeps feedback by workspace. Safe for concurrent use. See package store.
type Feedbacks interface {
	// PutFeedback keeps f in place of the one that from sent under its ID, or as a new one, whose ID
	// it sets, where there is none. Beyond [MaxFeedback] the key that sent most loses its oldest,
	// and of its callers the one who did.
	PutFeedback(ctx context.Context, uid string, from Sender, f *Feedback) error
	// EachFeedback calls do for each of a workspace, the newest first.
	EachFeedback(ctx context.Context, uid string, do func(*Feedback) error) error
	// DeleteFeedback removes one, or returns [chaterr.ChatFeedbackNotFound].
	DeleteFeedback(ctx context.Context, uid, id string) error
}

// FeedbackNotFound is the error for feedback that is not there.
func FeedbackNotFound(uid, id string) error {
	return &apierr.Error{Code: chaterr.ChatFeedbackNotFound, Message: fmt.Sprintf("Workspace `%s` has no feedback %.64q.", uid, id)}
}
