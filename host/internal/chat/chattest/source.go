package chattest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// A Source is a provider plugin in Go for a protocol of its own: each event is
// a line "kind:rest" that becomes one record, such as "text:hello",
// "tool:0:id:name", "args:0:{", "usage:3,4", "error:{json}"; "fault:" fails
// the call. A list of models is {"models": [{"name": "test/a"}], "next": "2"}. An
// event of several lines becomes several records. "pattern:{|}" has the host make
// texts of what stands between braces, and "report:{|}" says so as well, in the
// text "matched=…". The state counts events, and shows as the text "n=…" when
// asked for by "count:".
type Source struct {
	Is abi.Manifest
	// Reply, where not nil, answers each round instead of the network.
	Reply func(*abi.EncodeRequest) string
	// Describe, where not nil, answers what is no chat.
	Describe func(*abi.EncodeRequest) (*abi.EncodeResponse, error)
	// EncodeErr and ErrorErr, where not nil, are what these calls return.
	EncodeErr, ErrorErr error

	mu       sync.Mutex
	requests []abi.EncodeRequest
	errors   []abi.ErrorRequest
}

// Manifest implements [provider.Source].
func (s *Source) Manifest() *abi.Manifest { return &s.Is }

// Requests returns what Encode was called with so far.
func (s *Source) Requests() []abi.EncodeRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Errors returns what Error was called with so far.
func (s *Source) Errors() []abi.ErrorRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.errors)
}

// Encode implements [provider.Source].
func (s *Source) Encode(_ context.Context, in *abi.EncodeRequest) (*abi.EncodeResponse, error) {
	s.mu.Lock()
	kept := *in
	kept.Chat, kept.Carry = bytes.Clone(in.Chat), slices.Clone(in.Carry)
	s.requests = append(s.requests, kept)
	s.mu.Unlock()
	if s.EncodeErr != nil {
		return nil, s.EncodeErr
	}
	if s.Reply != nil {
		reply := s.Reply(in)
		return &abi.EncodeResponse{Reply: &reply}, nil
	}
	if s.Describe != nil && in.Op != "" {
		return s.Describe(in)
	}
	if in.Op == abi.OpModels {
		return &abi.EncodeResponse{
			Method: "GET", URL: in.Settings.BaseURL + "/models?page=" + in.Next,
			Answer: abi.RawJSON(`{"models":[{"name":"test/{{model}}"},"{{..}}"],"next":"{{next}}"}`),
		}, nil
	}
	return &abi.EncodeResponse{
		URL:     in.Settings.BaseURL + "/chat",
		Headers: map[string]string{"authorization": "Bearer " + in.Settings.APIKey},
		Body:    in.Chat,
	}, nil
}

// Error implements [provider.Source]: the body is the message, the header x-kind
// the kind.
func (s *Source) Error(_ context.Context, in *abi.ErrorRequest) (*abi.ProviderError, error) {
	s.mu.Lock()
	s.errors = append(s.errors, *in)
	s.mu.Unlock()
	if s.ErrorErr != nil {
		return nil, s.ErrorErr
	}
	return &abi.ProviderError{Kind: in.Headers["x-kind"], Message: in.Body}, nil
}

// Decode implements [provider.Source].
func (s *Source) Decode(_ context.Context, in, dst []byte) ([]byte, error) {
	call, err := abi.ParseDecodeInput(in)
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(string(call.State))
	if first := call.Flags&abi.FlagFirst != 0; first != (len(call.State) == 0) {
		return nil, fmt.Errorf("flag first is %v, but the state is %q", first, call.State)
	}
	var records []byte
	for {
		typ, data, ok := call.Next()
		if !ok {
			break
		}
		if string(typ) == abi.EventMatched {
			events, text, _, _ := abi.Matched(data)
			records = abi.AppendRecord(records, abi.RecordText, fmt.Sprintf("matched=%d,%d", events, text))
			continue
		}
		n++
		for line := range strings.SplitSeq(string(data), "\n") {
			if records, err = appendLine(records, line, n); err != nil {
				return nil, err
			}
		}
	}
	state := strconv.Itoa(n)
	dst = append(dst, byte(len(state)), 0, 0, 0)
	return append(append(dst, state...), records...), nil
}

func appendLine(b []byte, line string, n int) ([]byte, error) {
	kind, rest, _ := strings.Cut(line, ":")
	switch kind {
	case "text":
		return abi.AppendRecord(b, abi.RecordText, rest), nil
	case "reasoning":
		return abi.AppendRecord(b, abi.RecordReasoning, rest), nil
	case "refusal":
		return abi.AppendRecord(b, abi.RecordRefusal, rest), nil
	case "count":
		return abi.AppendRecord(b, abi.RecordText, fmt.Sprintf("n=%d", n)), nil
	case "tool":
		p := strings.SplitN(rest, ":", 3)
		index, _ := strconv.Atoi(p[0])
		return abi.AppendToolStart(b, index, p[1], p[2]), nil
	case "args":
		i, piece, _ := strings.Cut(rest, ":")
		index, _ := strconv.Atoi(i)
		return abi.AppendToolArguments(b, index, piece), nil
	case "finish":
		return abi.AppendRecord(b, abi.RecordFinish, rest), nil
	case "usage":
		var u abi.Usage
		_, _ = fmt.Sscanf(rest, "%d,%d,%d,%d", &u.Prompt, &u.Completion, &u.Cached, &u.Reasoning)
		u.Total = u.Prompt + u.Completion
		return abi.AppendUsage(b, u, nil), nil
	case "error":
		return abi.AppendRecord(b, abi.RecordError, rest), nil
	case "model":
		return abi.AppendResponse(b, "theirs", rest), nil
	case "carry":
		return abi.AppendRecord(b, abi.RecordCarry, rest), nil
	case "extra":
		return abi.AppendRecord(b, abi.RecordExtra, rest), nil
	case "again":
		after, rest, _ := strings.Cut(rest, ",")
		ms, _ := strconv.Atoi(after)
		return abi.AppendAgain(b, abi.Again{AfterMS: ms, Cancel: rest == "cancel"}), nil
	case "outer":
		return abi.AppendRecord(b, abi.RecordOuter, rest), nil
	case "pattern", "report":
		before, tail, _ := strings.Cut(rest, "|")
		return abi.AppendPattern(b, &abi.Pattern{
			Kind: abi.RecordText, Report: kind == "report", Tail: []byte(tail),
			Holes: []abi.Hole{{What: abi.HoleText, Before: []byte(before)}},
		}), nil
	case "unknown":
		return abi.AppendRecord(b, abi.RecordKind(200), rest), nil
	case "raw":
		return append(b, rest...), nil
	case "[DONE]", "":
		return b, nil
	}
	return nil, &provider.CallError{Kind: provider.Fault, Message: "the plugin test 1.0.0 failed (trap)", Err: fmt.Errorf("event %q", line)}
}

// Sources is a map by source that is a [provider.Sources]. A constraint is met by that
// very version.
type Sources map[string]provider.Source

// Source implements [provider.Sources].
func (m Sources) Source(wish provider.Wish) (provider.Source, bool) {
	s, ok := m[wish.Source]
	ok = ok && (wish.Version == "" || s.Manifest().Version == wish.Version)
	return s, ok && (wish.Plugin == "" || s.Manifest().Name == wish.Plugin)
}

// Plugins implements [provider.Sources].
func (m Sources) Plugins(source string) []string {
	if s, ok := m[source]; ok {
		return []string{s.Manifest().Name}
	}
	return nil
}

// Acquire implements [provider.Sources].
func (m Sources) Acquire(_ context.Context, wish provider.Wish, _ provider.Client) (provider.Source, func(), bool) {
	s, ok := m.Source(wish)
	return s, func() {}, ok
}

// SourceNames implements [provider.Sources].
func (m Sources) SourceNames() []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Head makes a header of name, value, name, value.
func Head(pairs ...string) http.Header {
	h := make(http.Header)
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}
