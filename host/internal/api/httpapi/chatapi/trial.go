package chatapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat"
)

const (
	trialQuestion = "Answer with one word: hello"
	trialTokens   = 16  // that the answer may have at most
	trialAnswer   = 200 // characters of it that are shown
)

// trialBody is what became of a trial. All fields are always there.
type trialBody struct {
	OK      bool          `json:"ok"`
	Message string        `json:"message"` // in plain words, what is wrong and what to do
	Problem *chat.Problem `json:"problem"` // null where nothing is wrong
	Code    *string       `json:"code"`    // of the error that a conversation would get
	Link    *string       `json:"link"`    // to what the code means
	Source  string        `json:"source"`
	Model   *string       `json:"model"`  // that was asked for; null: the source chooses
	Answer  *string       `json:"answer"` // the first of what the provider said
	Millis  int64         `json:"processingTimeMs"`
}

// TestChat answers POST /chats/:uid/test: it asks the provider for one word,
// under the workspace's settings, or those of the body, and without a search, and tells
// what came of it. That the trial failed is not a failure of this request.
func (s *Server) TestChat(r *request.Call) error {
	uid, err := s.allowedWorkspace(r)
	if err != nil {
		return err
	}
	var body []byte
	if r.Request().Header.ContentLength() != 0 {
		if body, err = r.ReadBody(); err != nil {
			return err
		}
	}
	b, err := s.Chat.Try(s.Base, uid, body)
	if err != nil {
		return err
	}
	settings := b.Workspace.Settings()
	result := trialBody{Source: settings.Source, Model: settings.DefaultModel}
	if b.Model != "" {
		result.Model = &b.Model
	}
	began := time.Now()
	answer, err := s.tryChat(r, &b)
	result.Millis = time.Since(began).Milliseconds()
	if errors.Is(err, request.ErrClientLeft) {
		return err
	}
	if err == nil {
		answer = string([]rune(answer)[:min(len([]rune(answer)), trialAnswer)])
		result.OK, result.Answer, result.Message = true, &answer, "The provider answered."
		return r.OK(result)
	}
	e := apierr.From(err)
	switch e.Code {
	case apierr.ShuttingDown, apierr.Internal, chaterr.ChatNotFound:
		return err
	}
	problem := chat.ProblemOf(e)
	result.Message, result.Problem = e.Message, &problem
	if _, ok := errors.AsType[*chat.Failure](e.Err); ok { // it came of the provider or its plugin
		result.Message = strings.TrimRight(e.Message, ".") + "." + trialRemedy(problem, uid, settings.BaseURL != nil)
		s.logProvider(r, err, "test of a workspace failed")
		if problem == chat.ProblemModel && b.Model != "" {
			result.Message += s.nearModel(uid, b.Model)
		}
	}
	result.Code, result.Link = new(e.Code.String()), new(e.Code.Link())
	return r.OK(result)
}

// logProvider logs what is for the log of a request that failed for its provider or
// its plugin.
func (s *Server) logProvider(r *request.Call, err error, what string) {
	f, ok := errors.AsType[*chat.Failure](apierr.From(err).Err)
	if !ok {
		return
	}
	s.Log.Warn().Str("request_id", r.ID).Str("source", f.Source).Str("plugin", f.Plugin).Str("version", f.PluginVersion).
		Str("kind", f.Kind).AnErr("cause", f.Logged()).Msg(what)
}

// nearModel names which of the provider's models has nearly the name that was asked
// for, as far as the provider tells.
func (s *Server) nearModel(uid, model string) string {
	list, err := s.Chat.ProviderModels(s.Base, uid, nil)
	if err != nil {
		return ""
	}
	ids := make([]string, len(list.Results))
	for i, m := range list.Results {
		ids[i] = m.ID
	}
	if near := apierr.Nearest(model, ids); near != "" {
		return " Did you mean `" + near + "`?"
	}
	return ""
}

// trialRemedy says what to do, where the message of a conversation's error does
// not.
func trialRemedy(p chat.Problem, uid string, hasBase bool) string {
	switch {
	case p == chat.ProblemBaseURL && !hasBase:
		return fmt.Sprintf(" The workspace has no `baseUrl`, so that the provider's own address was asked: let this host reach it, or set one with PATCH /chats/%s/settings.", uid)
	case p == chat.ProblemBaseURL:
		return fmt.Sprintf(" PATCH /chats/%s/settings sets it.", uid)
	case p == chat.ProblemModel:
		return " Name one that the provider has: in the request, or as the workspace's `defaultModel`."
	}
	return ""
}

// errEnough ends a trial whose provider has said something.
var errEnough = errors.New("the trial has its answer")

// A trialSink takes an answer until its text begins.
type trialSink struct {
	chat.Discard
	text   []byte
	pieces int
}

// Text implements [chat.Sink].
func (w *trialSink) Text(kind chat.Kind, text, _ []byte) {
	w.pieces++
	if kind == chat.Content {
		w.text = append(w.text, text...)
	}
}

// Flush implements [chat.Sink].
func (w *trialSink) Flush() error {
	if len(w.text) > 0 {
		return errEnough
	}
	return nil
}

// Sent implements [chat.Sink]: the number of pieces.
func (w *trialSink) Sent() int { return w.pieces }

// tryChat returns the first text of a provider's answer, which may be empty: one
// that reasons may spend its tokens on that. A client that leaves ends it.
func (s *Server) tryChat(r *request.Call, b *chat.Trial) (string, error) {
	q := &chat.Request{
		UID: b.Workspace.UID, Workspace: b.Workspace, Model: b.Model, Unnamed: b.Unnamed, Indexes: []string{}, Caller: r.Caller, Client: s.Address(r),
		Fields: map[string]json.RawMessage{"max_tokens": request.Encode(trialTokens)},
	}
	q.AddQuestion(trialQuestion)
	w := &trialSink{}
	o, err := s.Answers.Try(r, &Question{Chat: q}, w)
	switch {
	case o.Err != nil:
		return "", o.Err
	case err == nil || errors.Is(err, errEnough):
		return string(w.text), nil
	}
	return "", err
}
