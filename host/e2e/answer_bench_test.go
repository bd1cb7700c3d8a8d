package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// BenchmarkAnswer is an answer of one word through the whole host and the vLlm
// plugin, from a provider in the same process that answers at once: what an
// answer costs apart from its words. The events are as vLLM sends them, so that
// they fit patterns which the plugin has from its self-test, or bare, so that
// each answer has them read in full.
func BenchmarkAnswer(b *testing.B) {
	chunk := func(choices string) string {
		return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1790000000,"model":"m","choices":` + choices + "}\n\n"
	}
	const choice = `[{"index":0,"delta":{"content":"%s"},"logprobs":null,"finish_reason":%s}]`
	whole := chunk(fmt.Sprintf(choice, "word", "null")) + chunk(fmt.Sprintf(choice, "", `"stop","stop_reason":null`)) +
		chunk(`[],"usage":{"prompt_tokens":1,"total_tokens":3,"completion_tokens":2}`) + "data: [DONE]\n\n"
	b.Run("form=vllm", func(b *testing.B) { benchmarkAnswer(b, whole) })
	b.Run("form=bare", func(b *testing.B) { benchmarkAnswer(b, house.Delta("word")+house.Finish) })
}

func benchmarkAnswer(b *testing.B, events string) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, events)
	}))
	defer provider.Close()
	h := house.Open(b, map[string]string{"log-level": "off"}, house.Shipped(b, "vllm"))
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q}`, provider.URL))
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	b.ReportAllocs()
	before := h.Plugins()[0].Fuel
	for b.Loop() {
		resp, err := h.Client.Post(h.URL+"/chats/w/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.HasSuffix(answer, []byte("data: [DONE]\n\n")) {
			b.Fatalf("answer %d %s, %v", resp.StatusCode, answer, err)
		}
	}
	b.ReportMetric(float64(h.Plugins()[0].Fuel-before)/float64(b.N), "fuel/op")
}

// BenchmarkStreams is 64 answers of 64 words at once, an event at a time from a
// provider in the same process; an op is one answer.
func BenchmarkStreams(b *testing.B) {
	const streams, words = 64, 64
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range words {
			_, _ = io.WriteString(w, house.Delta("word"))
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, house.Finish)
	}))
	defer provider.Close()
	h := house.Open(b, map[string]string{"log-level": "off"}, house.Shipped(b, "vllm"))
	h.Client.Transport.(*http.Transport).MaxIdleConnsPerHost = streams
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q}`, provider.URL))
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	b.ReportAllocs()
	b.SetParallelism(streams / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			resp, err := h.Client.Post(h.URL+"/chats/w/chat/completions", "application/json", bytes.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			answer, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || bytes.Count(answer, []byte(`"word"`)) != words {
				b.Errorf("answer %d %.300s, %v", resp.StatusCode, answer, err)
				return
			}
		}
	})
}
