//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

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

// openSaying opens a host with the workspace w, whose provider answers all with events.
func openSaying(b *testing.B, events string) *house.House {
	b.Helper()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, events)
	}))
	b.Cleanup(provider.Close)
	h := house.Open(b, map[string]string{"log-level": "off"}, house.Shipped(b, "vllm"))
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q}`, provider.URL))
	return h
}

func benchmarkAnswer(b *testing.B, events string) {
	h := openSaying(b, events)
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	b.ReportAllocs()
	before, began := h.Plugins()[0].Fuel, processorTime(b)
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
	b.ReportMetric((processorTime(b)-began).Seconds()*1e6/float64(b.N), "cpu-us/op")
}

// processorTime is what this process has taken so far, client and provider included: of
// use where a machine has others do.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWhole is an answer of so many words that is sent whole, as OpenAI's clients ask
// for one without stream; the provider's events come in one write.
func BenchmarkWhole(b *testing.B) {
	for _, words := range []int{64, 1000} {
		b.Run(fmt.Sprint(words), func(b *testing.B) {
			events := strings.Repeat(house.Delta("word"), words) + house.Finish
			h := openSaying(b, events)
			body := []byte(`{"model":"w/m","messages":[{"role":"user","content":"hi"}]}`)
			b.ReportAllocs()
			began := processorTime(b)
			for b.Loop() {
				resp, err := h.Client.Post(h.URL+"/v1/chat/completions", "application/json", bytes.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				answer, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || bytes.Count(answer, []byte("word")) != words {
					b.Fatalf("answer %d %.300s, %v", resp.StatusCode, answer, err)
				}
			}
			b.ReportMetric((processorTime(b)-began).Seconds()*1e6/float64(b.N), "cpu-us/op")
		})
	}
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
	began := processorTime(b)
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
	b.ReportMetric((processorTime(b)-began).Seconds()*1e6/float64(b.N), "cpu-us/op")
}
