package httpapi

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// A teller emits the event of one request that its handler has answered with
// err. What it is made of is numbers, see package abi/event.
type teller func(s *Server, r *call, err error)

func (s *Server) eventRing() *telemetry.Ring { return s.Telemetry.Ring() }

// readSaid is what the request's body, or its URL, says.
func readSaid(r *call) telemetry.Said {
	if r.Method() == fiber.MethodGet || r.Method() == fiber.MethodHead {
		return telemetry.SaidByURL(r.Query)
	}
	return telemetry.ReadSaid(r.Raw)
}

func latencyOf(r *call) event.Count { return event.CountOf(accessTo(r).elapsed().Milliseconds()) }

func outcome(err error) event.Outcome {
	if err != nil {
		return event.Failed
	}
	return event.Succeeded
}

func tellSearch(s *Server, r *call, err error) {
	e := readSaid(r).Search()
	e.Outcome, e.Latency = outcome(err), latencyOf(r)
	if r.Found != nil {
		e.Degraded, e.UsedNegativeOperator = event.FlagOf(r.Found.Degraded), event.FlagOf(r.Found.Negative)
	}
	telemetry.Emit(s.eventRing(), &e)
}

func tellFacetSearch(s *Server, r *call, err error) {
	said := readSaid(r)
	e := said.FacetSearch()
	e.Outcome, e.Latency = outcome(err), latencyOf(r)
	var facet string
	_ = json.Unmarshal(said["facetName"], &facet) // one that is no text was refused
	if err == nil {
		e.FirstOfFacet = event.FlagOf(s.Telemetry.FirstOfFacet(r.Param("uid"), facet))
	}
	telemetry.Emit(s.eventRing(), &e)
}

func tellMultiSearch(s *Server, r *call, err error) {
	e := readSaid(r).MultiSearch()
	e.Outcome, e.Latency = outcome(err), latencyOf(r)
	telemetry.Emit(s.eventRing(), &e)
}

func tellDocuments(op event.DocumentsOperation) teller {
	return func(s *Server, r *call, err error) {
		e := event.Documents{Operation: op}
		switch op {
		case event.DocumentsReplace, event.DocumentsUpdate:
			// The header counts when it is wrong, too: that is what it is asked for.
			e.PayloadType = s.Telemetry.Handles().MediaType(r.Get(fiber.HeaderContentType))
			if err == nil {
				e.PrimaryKey, e.IndexCreated = s.Telemetry.Handles().Attribute(r.Query["primaryKey"]), event.FlagOf(r.Creates)
			}
		case event.DocumentsList, event.DocumentsFetch:
			said := readSaid(r)
			pages := said.Search()
			e.Limit, e.Offset, e.RetrieveVectors = pages.Limit, pages.Offset, pages.RetrieveVectors
		case event.DocumentsGet:
			e.RetrieveVectors = readSaid(r).Search().RetrieveVectors
		}
		telemetry.Emit(s.eventRing(), &e)
	}
}

func tellIndex(op event.IndexOperation) teller {
	return func(s *Server, r *call, err error) {
		if err != nil {
			return
		}
		e := event.Index{Operation: op}
		switch op {
		case event.IndexCreate, event.IndexUpdate:
			var key string
			_ = json.Unmarshal(readSaid(r)["primaryKey"], &key) // null is none
			e.PrimaryKey = s.Telemetry.Handles().Attribute(key)
		case event.IndexSwap:
			var pairs []json.RawMessage
			_ = json.Unmarshal(r.Raw, &pairs) // the handler took it
			e.Swaps = event.CountOf(len(pairs))
		}
		telemetry.Emit(s.eventRing(), &e)
	}
}

func tellSettings(s *Server, r *call, err error) {
	if err == nil {
		e := readSaid(r).Settings()
		telemetry.Emit(s.eventRing(), &e)
	}
}

func tellSettingsReset(s *Server, _ *call, err error) {
	if err == nil {
		e := telemetry.DefaultSettings().Settings()
		telemetry.Emit(s.eventRing(), &e)
	}
}

func tellSetting(name string) teller {
	return func(s *Server, r *call, err error) {
		if err != nil {
			return
		}
		value := json.RawMessage(r.Raw)
		if r.Method() == fiber.MethodDelete {
			value = json.RawMessage("null")
		}
		e := telemetry.OneSetting(name, value).Settings()
		telemetry.Emit(s.eventRing(), &e)
	}
}

func tellTasks(op event.TasksOperation) teller {
	return func(s *Server, r *call, _ error) {
		given := func(name string) event.Flag {
			_, ok := r.Query[name]
			return event.FlagOf(ok)
		}
		telemetry.Emit(s.eventRing(), &event.Tasks{
			Operation: op, UIDs: given("uids"), IndexUIDs: given("indexUids"), Types: given("types"), Statuses: given("statuses"),
			CanceledBy:       given("canceledBy"),
			BeforeEnqueuedAt: given("beforeEnqueuedAt"), AfterEnqueuedAt: given("afterEnqueuedAt"),
			BeforeStartedAt: given("beforeStartedAt"), AfterStartedAt: given("afterStartedAt"),
			BeforeFinishedAt: given("beforeFinishedAt"), AfterFinishedAt: given("afterFinishedAt"),
		})
	}
}

func tellStats(one bool) teller {
	return func(s *Server, _ *call, _ error) {
		telemetry.Emit(s.eventRing(), &event.Stats{OneIndex: event.FlagOf(one)})
	}
}

// FeaturesEvent says which features are on.
func FeaturesEvent(set feature.Set) event.Features {
	on := map[string]event.Flag{}
	set.Each(func(name feature.Feature, is bool) { on[string(name)] = event.FlagOf(is) })
	return event.Features{
		CompositeEmbedders: on["compositeEmbedders"], ContainsFilter: on["containsFilter"], EditDocumentsByFunction: on["editDocumentsByFunction"],
		Metrics: on["metrics"], Multimodal: on["multimodal"], Network: on["network"], LogsRoute: on["logsRoute"],
		ChatCompletions: on["chatCompletions"], VectorStoreSetting: on["vectorStoreSetting"], GetTaskDocumentsRoute: on["getTaskDocumentsRoute"],
	}
}

func tellFeatures(s *Server, _ *call, err error) {
	if err != nil {
		return
	}
	e := FeaturesEvent(s.Features.Now())
	e.Patched = 1
	telemetry.Emit(s.eventRing(), &e)
}

func tellNetwork(s *Server, _ *call, err error) {
	if err != nil {
		return
	}
	if n, err := s.Network.Network(s.ctx); err == nil {
		telemetry.Emit(s.eventRing(), &event.Network{Self: event.FlagOf(n.Self != ""), Remotes: event.CountOf(len(n.Remotes))})
	}
}

func tellExport(s *Server, r *call, _ error) {
	e := readSaid(r).Export()
	telemetry.Emit(s.eventRing(), &e)
}

// tellRefusedChat is for a chat that ended before its answer began; what comes
// after that is told by [Server.tellChat].
func tellRefusedChat(s *Server, r *call, err error) {
	if err == nil || accessTo(r).outcome != nil {
		return
	}
	e := event.Chat{Outcome: event.ChatRefused, Messages: messages(r.Raw), Latency: latencyOf(r)}
	if statusOf(err) >= fiber.StatusInternalServerError {
		e.Outcome = event.ChatFailed
	}
	s.sayFailure(&e, err)
	telemetry.Emit(s.eventRing(), &e)
}

// sayFailure puts into e what went wrong, and whose source it was.
func (s *Server) sayFailure(e *event.Chat, err error) {
	f, ok := errors.AsType[*chat.Failure](err)
	switch {
	case ok && strings.HasPrefix(f.Kind, "plugin_"):
		e.Failure = event.OrdinalOf[event.ChatFailure]("plugin")
	case ok && (f.Kind == "network_timeout" || f.Kind == "answer_timeout"):
		e.Failure = event.OrdinalOf[event.ChatFailure]("timeout")
	case ok && strings.HasPrefix(f.Kind, "network_"):
		e.Failure = event.OrdinalOf[event.ChatFailure]("network")
	case ok:
		e.Failure = event.OrdinalOf[event.ChatFailure](f.Kind)
	case statusOf(err) < fiber.StatusInternalServerError:
		e.Failure = event.OrdinalOf[event.ChatFailure]("request")
	default:
		e.Failure = event.OrdinalOf[event.ChatFailure]("other")
	}
	if ok {
		e.Source, e.SourceName = event.OrdinalOf[event.ChatSource](f.Source), s.Telemetry.Handles().Source(f.Source)
	}
}

// statusOf is the status that err is answered with.
func statusOf(err error) int {
	if e, ok := errors.AsType[*openai.Error](err); ok {
		return e.Status
	}
	return apierr.From(err).Code.Status()
}

// messages counts the messages of a conversation.
func messages(body []byte) event.Count {
	var b struct {
		Messages []json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(body, &b) // one that is no conversation has none
	return event.CountOf(len(b.Messages))
}

// tellChat emits the events of an answer that has ended.
func (s *Server) tellChat(a *access, o chat.Outcome) {
	if s.Telemetry == nil {
		return
	}
	s.tellRequest(a, a.client)
	e := event.Chat{
		Outcome: event.ChatAnswered, Source: event.OrdinalOf[event.ChatSource](o.Source), Streamed: event.FlagOf(a.stream),
		Rounds: event.CountOf(o.Rounds), Searches: event.CountOf(o.Searches), Messages: event.CountOf(o.Messages), Chunks: event.CountOf(o.Chunks),
		Latency: event.CountOf(a.elapsed().Milliseconds()), First: event.CountOf(a.first.Milliseconds()),
		SourceName: s.Telemetry.Handles().Source(o.Source), Finish: event.OrdinalOf[event.ChatFinish](o.Finish),
		SearchLatency: event.CountOf(o.SearchTime.Milliseconds()), EmptySearches: event.CountOf(o.EmptySearches),
	}
	if o.HasUsage {
		e.PromptTokens, e.CompletionTokens = event.MaybeCountOf(o.Usage.Prompt), event.MaybeCountOf(o.Usage.Completion)
		e.CachedTokens, e.ReasoningTokens = event.MaybeCountOf(o.Usage.Cached), event.MaybeCountOf(o.Usage.Reasoning)
	}
	if o.Err != nil {
		s.sayFailure(&e, o.Err)
	}
	switch {
	case o.Cancelled:
		e.Outcome = event.ChatLeft
	case o.Err != nil:
		e.Outcome = event.ChatFailed
	case o.Finish == "tool_calls":
		e.Outcome = event.ChatToolCalls
	}
	telemetry.Emit(s.eventRing(), &e)
	for _, g := range o.Guards {
		telemetry.Emit(s.eventRing(), &event.Guard{
			Guard: s.Telemetry.Handles().Guard(g.Guard), Stage: event.OrdinalOf[event.GuardStage](g.Stage), Label: s.Telemetry.Handles().Note(g.Label),
			Calls: event.CountOf(g.Calls), Edits: event.CountOf(g.Edits), Blocks: event.CountOf(g.Blocks), Faults: event.CountOf(g.Faults), Notes: event.CountOf(g.Notes),
			Latency: event.CountOf(g.Took.Microseconds()),
		})
	}
}

// tellRequest emits the event that each request has. client is what it says of
// its own.
func (s *Server) tellRequest(a *access, client string) {
	if s.Telemetry == nil {
		return
	}
	telemetry.Emit(s.eventRing(), &event.HTTPRequest{
		UserAgent: s.Telemetry.Handles().UserAgent(client), Route: a.row.eventFamily(),
		Status: event.CountOf(a.status), Latency: event.CountOf(a.elapsed().Milliseconds()),
	})
}

// clientHeader is where a client library says who it is, where a browser
// forbids it to say so in User-Agent.
const clientHeader = "X-Meilisearch-Client"

// clientOf is what a request says of its client.
func clientOf(c *fiber.Ctx) string {
	if v := c.Get(clientHeader); v != "" {
		return v
	}
	return c.Get(fiber.HeaderUserAgent)
}
