package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestClientLeaves hangs up at each stage of an answer: the provider's request
// ends soon, without a word from the provider, and nothing is left over.
func TestClientLeaves(t *testing.T) {
	checkLeak(t)
	w := newWire(t)
	h := openHouse(t, nil, shipped(t, "vllm"))
	h.addFilms(200)
	h.must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q}`, w.url))

	tests := []struct {
		name   string
		answer func(x *exchange)
		after  string // what the client has read when it leaves; empty: nothing, not even a status
	}{
		{"before the answer", (*exchange).wait, ""},
		{"before the first event", func(x *exchange) { x.say(stream); x.wait() }, ""},
		{"in silence", func(x *exchange) { x.say(stream + delta("one")); x.wait() }, "one"},
		{"in the middle", func(x *exchange) {
			for x.say(stream); ; x.say(delta("one")) {
				select {
				case <-x.closed:
					return
				default:
				}
			}
		}, "one"},
		{"in the second round", func(x *exchange) {
			if x.nth == 1 {
				x.say(stream + searches(1) + called)
				return
			}
			x.wait()
		}, "searchSources"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			begun, ended := make(chan struct{}), make(chan struct{})
			last := 1
			if tt.after == "searchSources" {
				last = 2
			}
			w.on(tt.name, func(x *exchange) {
				if x.nth < last {
					tt.answer(x)
					return
				}
				close(begun)
				tt.answer(x)
				within(t, x.closed, "the provider's request ends")
				close(ended)
			})
			leave := h.begin(tt.name, tt.after, begun)
			leave()
			within(t, ended, "the provider sees the end")
			h.checkLeft(tt.name)
		})
	}

	// The searches of one round, a hundred of them: the client leaves when the
	// first is announced. Were they all done before that is noticed, the next
	// round's request would be cancelled instead.
	t.Run("in a search", func(t *testing.T) {
		w.on("in a search", func(x *exchange) {
			if x.nth == 1 {
				x.say(stream + searches(100) + called)
				return
			}
			within(t, x.closed, "the provider's second request ends")
		})
		h.begin("in a search", "searchProgress", nil)()
		h.checkLeft("in a search")
	})
	h.checkFilms(200)
	h.close()
}

// searches is an event of n calls of the host's own function.
func searches(n int) string {
	calls := make([]any, n)
	for i := range calls {
		calls[i] = map[string]any{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{
			"name": "searchInIndex", "arguments": fmt.Sprintf(`{"indexUid":"films","q":"film number%d about the weather and the sea","filter":""}`, i),
		}}
	}
	b, _ := json.Marshal(map[string]any{"id": "p1", "model": "m", "choices": []any{
		map[string]any{"index": 0, "delta": map[string]any{"tool_calls": calls}, "finish_reason": nil},
	}})
	return "data: " + string(b) + "\n\n"
}

// called ends a turn that calls functions.
const called = "data: {\"id\":\"p1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"

// begin asks and reads until it has seen after, or, where that is empty, waits
// for begun. It returns what hangs up and waits until the host has logged so.
func (h *house) begin(model, after string, begun <-chan struct{}) (leave func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}],"tools":[`+
		`{"type":"function","function":{"name":"searchProgress"}},{"type":"function","function":{"name":"searchSources"}}]}`, model)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/chats/w/chat/completions", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("x-request-id", strings.ReplaceAll(model, " ", "-"))
	done := make(chan struct{})
	seen := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := h.client.Do(req)
		if err != nil {
			return // left before the answer
		}
		defer resp.Body.Close()
		var got strings.Builder
		buf := make([]byte, 4<<10)
		for {
			n, err := resp.Body.Read(buf)
			got.Write(buf[:n])
			if after != "" && strings.Contains(got.String(), after) {
				close(seen)
				_, _ = io.Copy(io.Discard, resp.Body) // until it is called off
				return
			}
			if err != nil {
				h.t.Errorf("the answer ended before %q was in it: %v: %.500s", after, err, got.String())
				return
			}
		}
	}()
	if after == "" {
		within(h.t, begun, "the provider is asked")
	} else {
		within(h.t, seen, "the client reads "+after)
	}
	return func() {
		cancel()
		<-done
	}
}

// checkLeft wants the access line of the request to come, and to say that its
// client left where an answer was under way.
func (h *house) checkLeft(model string) {
	h.t.Helper()
	line := ""
	id := fmt.Sprintf(`"request_id":%q`, strings.ReplaceAll(model, " ", "-"))
	if !settles(func() bool {
		for l := range strings.Lines(h.log.String()) {
			if strings.Contains(l, id) && strings.Contains(l, `"message":"request"`) {
				line = l
			}
		}
		return line != ""
	}) {
		h.t.Fatalf("no log line of the request:\n%s", h.log.String())
	}
	if strings.Contains(line, `"status":200`) && !strings.Contains(line, `"cancelled":true`) {
		h.t.Errorf("the log does not say that the client left: %s", line)
	}
	if strings.Contains(h.log.String(), "panicked") {
		h.t.Errorf("something panicked:\n%s", h.log.String())
	}
}
