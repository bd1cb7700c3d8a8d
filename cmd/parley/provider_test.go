package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A provider is an OpenAI-shaped server on loopback that answers by the
// model's name: "text", "tool" (calls the client's first tool of its own for
// Paris), "error" (429), or cN-dM: N chunks, M milliseconds apart.
type provider struct {
	url      string
	requests atomic.Int64
	open     atomic.Int64 // requests under way
}

// newProvider serves until the test ends.
func newProvider(t testing.TB) *provider {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{url: fmt.Sprintf("http://%s/v1", ln.Addr())}
	srv := &http.Server{Handler: p}
	go srv.Serve(ln) // ends with Close
	t.Cleanup(func() { srv.Close() })
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.requests.Add(1)
	p.open.Add(1)
	defer p.open.Add(-1)
	var req struct {
		Model string
		Tools []struct{ Function struct{ Name string } }
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &req) != nil || r.URL.Path != "/v1/chat/completions" {
		http.Error(w, `{"error":{"message":"bad request"}}`, http.StatusBadRequest)
		return
	}
	if req.Model == "error" {
		w.Header().Set("content-type", "application/json")
		w.Header().Set("retry-after", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"error":{"message":"Rate limit reached: slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	s := stream{w, req.Model}
	s.delta(`{"role":"assistant","content":""}`, "null")
	switch req.Model {
	case "tool":
		name := ""
		for _, tool := range req.Tools {
			if tool.Function.Name != "searchInIndex" {
				name = tool.Function.Name
			}
		}
		s.delta(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":%q,"arguments":""}}]}`, name), "null")
		s.delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}`, "null")
		s.delta(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Paris\"}"}}]}`, "null")
		s.end("tool_calls")
	case "text":
		for _, word := range strings.SplitAfter("Inception, Memento and The Prestige.", " ") {
			s.delta(fmt.Sprintf(`{"content":%q}`, word), "null")
		}
		s.end("stop")
	default:
		var chunks, pause int
		if _, err := fmt.Sscanf(req.Model, "c%d-d%d", &chunks, &pause); err != nil {
			return
		}
		for i := range chunks {
			if pause > 0 {
				select {
				case <-time.After(time.Duration(pause) * time.Millisecond):
				case <-r.Context().Done():
					return
				}
			}
			s.delta(fmt.Sprintf(`{"content":"word%05d "}`, i), "null")
		}
		s.end("stop")
	}
}

// stream writes chunks of the size that OpenAI's have, about 300 bytes.
type stream struct {
	w     http.ResponseWriter
	model string
}

func (s stream) delta(delta, finish string) {
	fmt.Fprintf(s.w, "data: {\"id\":\"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":%q,"+
		"\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}],\"usage\":null}\n\n",
		s.model, delta, finish)
	s.w.(http.Flusher).Flush()
}

func (s stream) end(finish string) {
	s.delta("{}", fmt.Sprintf("%q", finish))
	fmt.Fprintf(s.w, "data: {\"id\":\"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":%q,"+
		"\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\ndata: [DONE]\n\n", s.model)
	s.w.(http.Flusher).Flush()
}
