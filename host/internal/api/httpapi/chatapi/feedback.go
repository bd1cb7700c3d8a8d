package chatapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// feedbackFields are the codes of the fields of feedback.
var feedbackFields = apierr.Fields{
	"id": chaterr.InvalidChatFeedback, "rating": chaterr.InvalidChatFeedback, "reason": chaterr.InvalidChatFeedback, "question": chaterr.InvalidChatFeedback,
	"answer": chaterr.InvalidChatFeedback, "model": chaterr.InvalidChatFeedback, "files": chaterr.InvalidChatFeedback, "searches": chaterr.InvalidChatFeedback,
}

// knownWorkspace returns the workspace uid of the path, or [chaterr.ChatNotFound] where there is none.
func (s *Server) knownWorkspace(r *request.Call) (string, error) {
	uid, err := s.allowedWorkspace(r)
	if err == nil {
		_, err = s.Chat.Workspace(s.Base, uid)
	}
	return uid, err
}

// feedbackID is the answer of POST /chats/:uid/feedback.
type feedbackID struct {
	ID string `json:"id"` // to send it again
}

// PutFeedback answers POST /chats/:uid/feedback.
func (s *Server) PutFeedback(r *request.Call) error {
	uid, err := s.knownWorkspace(r)
	if err != nil {
		return err
	}
	var f workspace.Feedback
	if err := r.Decode(&f, feedbackFields); err != nil {
		return err
	}
	if err := f.Check(); err != nil {
		return err
	}
	from := workspace.Sender{Key: r.Caller.Key(), Caller: r.Caller.ID()}
	if err := s.Feedback.PutFeedback(s.Base, uid, from, &f); err != nil {
		return err
	}
	return r.Answer(http.StatusCreated, feedbackID{f.ID})
}

// ListFeedback answers GET /chats/:uid/feedback.
func (s *Server) ListFeedback(r *request.Call) error {
	uid, err := s.knownWorkspace(r)
	if err != nil {
		return err
	}
	offset, limit, err := r.Query.Page(chaterr.InvalidChatOffset, chaterr.InvalidChatLimit)
	if err != nil {
		return err
	}
	results, total := []json.RawMessage{}, 0
	err = s.Feedback.EachFeedback(r.Base, uid, func(f *workspace.Feedback) (err error) {
		if total >= offset && len(results) < limit {
			results = append(results, request.Encode(f))
			err = r.Loan.TakeAnswer(len(results[len(results)-1]))
		}
		total++
		return err
	})
	if err != nil {
		return err
	}
	return r.OK(request.NewList(results, offset, limit, total))
}

// ExportFeedback answers GET /chats/:uid/feedback/export: questions for parley eval, a line each.
func (s *Server) ExportFeedback(r *request.Call) error {
	uid, err := s.knownWorkspace(r)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	err = s.Feedback.EachFeedback(r.Base, uid, func(f *workspace.Feedback) error {
		q, ok := f.EvalQuestion()
		if !ok {
			return nil
		}
		before := b.Len()
		return errors.Join(lines.Encode(q), r.Loan.TakeAnswer(b.Len()-before))
	})
	if err != nil {
		return err
	}
	r.Set("Content-Type", request.MIMENDJSON)
	return r.Send(b.Bytes())
}

// DeleteFeedback answers DELETE /chats/:uid/feedback/:id.
func (s *Server) DeleteFeedback(r *request.Call) error {
	uid, err := s.knownWorkspace(r)
	if err != nil {
		return err
	}
	if err := s.Feedback.DeleteFeedback(s.Base, uid, r.Param("id")); err != nil {
		return err
	}
	return r.Gone()
}
