package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// A writer is a provider whose model writes to the first address that it was given: by the client's tool, as
// often as that was not called twice, and then with a text. A letter an event.
type writer struct {
	mu    sync.Mutex
	asked []string
}

func (p *writer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.asked = append(p.asked, string(b))
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(delta string) {
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta)
	}
	calls := strings.Count(string(b), `"role":"tool"`)
	finish := "stop"
	if calls < 2 {
		finish = "tool_calls"
		event(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":"mail","arguments":""}}]}`, calls))
		for _, c := range `{"to":"<EMAIL_1>"}` {
			event(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}`, quoted(string(c))))
		}
	} else {
		for _, c := range "Sent to <EMAIL_1>." {
			event(`{"content":` + quoted(string(c)) + `}`)
		}
	}
	_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", finish)
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// turnSaid is what an answer comes to: its text, and the message for the client to send back.
type turnSaid struct {
	text      string
	id        string
	arguments string
	details   json.RawMessage
}

// readSaid puts an answer together, streamed or whole.
func readSaid(t *testing.T, body string) (s turnSaid) {
	t.Helper()
	type message struct {
		Content string
		Calls   []struct {
			ID       string
			Function struct{ Arguments string }
		} `json:"tool_calls"`
		Details json.RawMessage `json:"reasoning_details"`
	}
	add := func(m message) {
		s.text += m.Content
		for _, c := range m.Calls {
			s.id += c.ID
			s.arguments += c.Function.Arguments
		}
		if m.Details != nil {
			s.details = m.Details
		}
	}
	var whole struct {
		Choices []struct{ Message, Delta message }
	}
	if json.Unmarshal([]byte(body), &whole) == nil {
		add(whole.Choices[0].Message)
		return s
	}
	for line := range strings.Lines(body) {
		whole.Choices = nil
		if raw, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(raw), &whole) == nil && len(whole.Choices) > 0 {
			add(whole.Choices[0].Delta)
		}
	}
	return s
}

// talkThrough has three turns with a client's tool between, of which the client forgets all but the last message
// and what it was told to send back. at is who is asked in each turn.
func talkThrough(t *testing.T, p *writer, stream bool, at func(turn int) *house.House) {
	t.Helper()
	const address = "ann.lee@mail.example"
	messages := []string{`{"role":"user","content":"Write to ` + address + ` twice."}`}
	for turn := range 3 {
		body := fmt.Sprintf(`{"model":"w","stream":%t,"messages":[%s],"tools":[{"type":"function","function":{"name":"mail"}}]}`, stream, strings.Join(messages, ","))
		s := readSaid(t, at(turn).Must("POST", "/v1/chat/completions", body).Body)
		if turn == 2 {
			if s.text != "Sent to "+address+"." {
				t.Errorf("stream %t: the last turn says %q", stream, s.text)
			}
			break
		}
		if s.arguments != `{"to":"`+address+`"}` || s.details == nil {
			t.Fatalf("stream %t: turn %d calls with %s, to be sent back: %s", stream, turn, s.arguments, s.details)
		}
		messages = append(messages, fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"mail","arguments":"{}"}}],"reasoning_details":%s}`, s.id, s.details),
			fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"done"}`, s.id))
		messages[0] = `{"role":"user","content":"Do it."}`
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if all := strings.Join(p.asked, "\n"); strings.Contains(all, address) || strings.Contains(all, "parley.") {
		t.Errorf("the provider got %s", all)
	}
}

// TestGuardTurns: what was masked comes back over three turns, where the client keeps the conversation.
func TestGuardTurns(t *testing.T) {
	t.Parallel()
	p := &writer{}
	server := httptest.NewServer(p)
	defer server.Close()
	h := house.Open(t, nil, house.Shipped(t, "openai"), house.Built(t, filepath.Join("plugins", "guard", "mask")))
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"openAi","baseUrl":%q,"apiKey":"k","defaultModel":"m","guards":[{"plugin":"mask"}]}`, server.URL))
	for _, stream := range []bool{true, false} {
		talkThrough(t, p, stream, func(int) *house.House { return h })
	}
}

// TestClusterGuardTurns: and where the node dies that was asked before.
func TestClusterGuardTurns(t *testing.T) {
	t.Parallel()
	p := &writer{}
	server := httptest.NewServer(p)
	defer server.Close()
	w := openTown(t, 0, 1)
	w.guards = [][]byte{house.Built(t, filepath.Join("plugins", "guard", "mask"))}
	w.houses = append(w.houses, w.open(t.TempDir()), w.open(t.TempDir()), w.open(t.TempDir()))
	w.leader()
	w.eventually(w.houses[0], "PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"openAi","baseUrl":%q,"apiKey":"k","defaultModel":"m","guards":[{"plugin":"mask"}]}`, server.URL))
	w.level()
	talkThrough(t, p, true, func(turn int) *house.House {
		if turn == 1 {
			w.houses[0].Close()
		}
		return w.houses[min(turn, 1)]
	})
}
