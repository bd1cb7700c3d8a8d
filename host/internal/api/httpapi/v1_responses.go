package httpapi

import (
	"encoding/json"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/api/openai/responses"
	"github.com/parley-search/parley/host/internal/chat"
)

// respond answers POST /v1/responses, by default with the whole response.
func (s *Server) respond(r *call) error {
	body, err := s.readQuestion(r, limit.Party{})
	if err != nil {
		return err
	}
	request, err := openai.ParseResponse(body)
	if err != nil {
		return err
	}
	target, err := s.Chat.Resolve(s.ctx, r.Caller, request.Model)
	if err != nil {
		return err
	}
	owner := r.Caller.ID()
	var history []json.RawMessage
	if request.Previous != "" {
		found, ok := s.Responses.History(owner, request.Previous)
		if !ok {
			return s.lostResponse(request.Previous)
		}
		history = found
	}
	lookup := func(id string) (json.RawMessage, bool) { return s.Responses.Item(owner, id) }
	q := s.questionV1(r, request.Model, &target)
	if q.body, err = request.Body(history, lookup, target.Model, target.Source); err != nil {
		return err
	}
	if q.options.Carries, err = s.openCarries(owner, request.States()); err != nil {
		return err
	}
	q.options.Usage, q.options.Indexes, q.options.MostHits, q.options.Said = true, request.Indexes, request.MostHits, request.Said
	if n := request.Tokens(); n > 0 && n <= fewTokens {
		q.options.Indexes = []string{}
	}
	w := openai.NewResponse(request, request.Store && s.Responses.Keeps())
	s.keepReasoning(owner, request, w)
	if request.Store {
		input := request.Input(lookup)
		key := r.Caller.Key()
		w.Finished = func(done *openai.Response) { s.keepResponse(owner, key, request.Previous, input, done) }
	}
	if request.Stream {
		q.sink = func(st *stream) chat.Sink {
			w.Emit = func(frames []byte) error { return st.writeEvents(frames, w.Ended()) }
			return w
		}
		return s.streamAnswer(r, q)
	}
	if err := s.wholeAnswer(r, q, w); err != nil {
		return err
	}
	return sendJSON(r.Ctx, fiber.StatusOK, w.Body())
}

// lostResponse is the error for a response that is not kept, for this caller.
func (s *Server) lostResponse(id string) error {
	message := "Previous response with id `" + id + "` not found: it has expired or was never kept. Send the whole conversation in `input`."
	if !s.Responses.Keeps() {
		message = "`previous_response_id` cannot be used: this host keeps no responses (--responses-ttl is 0). Send the whole conversation in `input`."
	}
	return &openai.Error{Status: fiber.StatusBadRequest, Type: "invalid_request_error", Code: "previous_response_not_found", Param: "previous_response_id", Message: message}
}

func (s *Server) keepResponse(owner, key, previous string, input []json.RawMessage, done *openai.Response) {
	ids, output := done.Output()
	err := s.Responses.Put(owner, &responses.Record{ID: done.ID, Previous: previous, Body: done.Body(), Input: input, Output: output, ItemIDs: ids, Key: key})
	if err != nil {
		s.Log.Warn().Err(err).Msg("response is not kept")
	}
}

// getResponse answers GET /v1/responses/:id.
func (s *Server) getResponse(r *call) error {
	record, ok := s.Responses.Get(r.Caller.ID(), r.Param("id"))
	if !ok {
		return unknownResponse(r)
	}
	return sendJSON(r.Ctx, fiber.StatusOK, record.Body)
}

// listInputItems answers GET /v1/responses/:id/input_items.
func (s *Server) listInputItems(r *call) error {
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
	return sendJSON(r.Ctx, fiber.StatusOK, list)
}

// cancelResponse answers POST /v1/responses/:id/cancel. What is kept is over, and
// what is under way ends when its client leaves.
func (s *Server) cancelResponse(r *call) error {
	if _, ok := s.Responses.Get(r.Caller.ID(), r.Param("id")); !ok {
		return unknownResponse(r)
	}
	return &openai.Error{
		Status: fiber.StatusBadRequest, Type: "invalid_request_error", Code: "response_not_cancellable", Param: "response_id",
		Message: "Response `" + r.Param("id") + "` cannot be cancelled: it was not made in the background. Close the connection to end one that is under way.",
	}
}

// deleteResponse answers DELETE /v1/responses/:id.
func (s *Server) deleteResponse(r *call) error {
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

func unknownResponse(r *call) error {
	return &openai.Error{Status: fiber.StatusNotFound, Type: "invalid_request_error", Code: "response_not_found", Param: "response_id", Message: "Response with id `" + r.Param("id") + "` not found."}
}
