package chatapi

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/api/openai/responses"
	"github.com/parley-search/parley/host/internal/chat"
)

// ParseResponse reads the body of POST /v1/responses, whose answer is whole by default.
func ParseResponse(s *Server, r *request.Call, body []byte) (*Question, error) {
	asked, err := openai.ParseResponse(body)
	if err != nil {
		return nil, err
	}
	owner := r.Caller.ID()
	var history []json.RawMessage
	if asked.Previous != "" {
		found, ok := s.Responses.History(owner, asked.Previous)
		if !ok {
			return nil, s.lostResponse(asked.Previous)
		}
		history = found
	}
	kept := keptBy{s.Responses, owner}
	c, err := asked.Ask(history, kept)
	if err != nil {
		return nil, err
	}
	if c.Carries, err = s.openCarries(owner, asked.States()); err != nil {
		return nil, err
	}
	w := openai.NewResponse(asked, asked.Store && s.Responses.Keeps())
	s.keepReasoning(owner, asked, w)
	if asked.Store {
		input := asked.Input(kept)
		key := r.Caller.Key()
		w.Finished = func(done *openai.Response) { s.keepResponse(owner, key, asked.Previous, input, done) }
	}
	return &Question{Chat: c, model: asked.Model, stream: asked.Stream, tokens: asked.Tokens(), Sink: func(to chat.FrameWriter) chat.Sink {
		w.Events = to
		return w
	}}, nil
}

// keptBy are the items of the responses that an owner keeps.
type keptBy struct {
	store *responses.Store
	owner string
}

// Item implements [openai.Kept].
func (k keptBy) Item(id string) (json.RawMessage, bool) { return k.store.Item(k.owner, id) }

// State implements [openai.Kept].
func (k keptBy) State(id string) string { return k.store.State(k.owner, id) }

// lostResponse is the error for a response that is not kept, for this caller.
func (s *Server) lostResponse(id string) error {
	message := "Previous response with id `" + id + "` not found: it has expired or was never kept. Send the whole conversation in `input`."
	if !s.Responses.Keeps() {
		message = "`previous_response_id` cannot be used: this host keeps no responses (--responses-ttl is 0). Send the whole conversation in `input`."
	}
	return &openai.Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "previous_response_not_found", Param: "previous_response_id", Message: message}
}

func (s *Server) keepResponse(owner, key, previous string, input []json.RawMessage, done *openai.Response) {
	ids, output := done.Output()
	state, of := done.State()
	err := s.Responses.Put(owner, &responses.Record{ID: done.ID, Previous: previous, Body: done.Body(), Input: input, Output: output, ItemIDs: ids, State: state, StateOf: of, Key: key})
	if err != nil {
		s.Log.Warn().Err(err).Msg("response is not kept")
	}
}

// GetResponse answers GET /v1/responses/:id.
func (s *Server) GetResponse(r *request.Call) error {
	record, ok := s.Responses.Get(r.Caller.ID(), r.Param("id"))
	if !ok {
		return unknownResponse(r)
	}
	return r.JSON(record.Body)
}

// ListInputItems answers GET /v1/responses/:id/input_items.
func (s *Server) ListInputItems(r *request.Call) error {
	items, ok := s.Responses.Input(r.Caller.ID(), r.Param("id"))
	if !ok {
		return unknownResponse(r)
	}
	parameters := url.Values{}
	for k, v := range r.Context().QueryArgs().All() {
		parameters.Add(string(k), string(v))
	}
	list, err := openai.ListItems(items, parameters)
	if err != nil {
		return err
	}
	return r.JSON(list)
}

// CancelResponse answers POST /v1/responses/:id/cancel. What is kept is over, and
// what is under way ends when its client leaves.
func (s *Server) CancelResponse(r *request.Call) error {
	if _, ok := s.Responses.Get(r.Caller.ID(), r.Param("id")); !ok {
		return unknownResponse(r)
	}
	return &openai.Error{
		Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "response_not_cancellable", Param: "response_id",
		Message: "Response `" + r.Param("id") + "` cannot be cancelled: it was not made in the background. Close the connection to end one that is under way.",
	}
}

// DeleteResponse answers DELETE /v1/responses/:id.
func (s *Server) DeleteResponse(r *request.Call) error {
	id := r.Param("id")
	if !s.Responses.Delete(r.Caller.ID(), id) {
		return unknownResponse(r)
	}
	return r.OK(struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Deleted bool   `json:"deleted"`
	}{id, "response", true})
}

func unknownResponse(r *request.Call) error {
	return &openai.Error{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "response_not_found", Param: "response_id", Message: "Response with id `" + r.Param("id") + "` not found."}
}
