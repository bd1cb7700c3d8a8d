package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// TestWordsNeedNoGuest: where words differ in their text alone, ten times as many
// spend next to no more fuel, since the host makes their records by the pattern
// that the plugin told it.
func TestWordsNeedNoGuest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it compiles plugins")
	}
	for _, tt := range []struct{ plugin, settings, begin, word, end string }{
		{"vllm", `"source":"vLlm"`, "", house.Delta("%s"), house.Finish},
		{
			"anthropic", `"source":"anthropic","apiKey":"k"`,
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n" +
				"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n",
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n" +
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		},
		{
			"gemini", `"source":"gemini","apiKey":"k"`, "",
			"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"%s\"}],\"role\":\"model\"}}],\"usageMetadata\":{\"promptTokenCount\":1,\"candidatesTokenCount\":2,\"totalTokenCount\":3}}\n\n",
			"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\".\"}],\"role\":\"model\"},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1,\"candidatesTokenCount\":9,\"totalTokenCount\":10}}\n\n",
		},
	} {
		t.Run(tt.plugin, func(t *testing.T) {
			words := 0
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, tt.begin)
				for n := range words {
					_, _ = io.WriteString(w, strings.Replace(tt.word, "%s", fmt.Sprintf("word%d ", n), 1))
					w.(http.Flusher).Flush()
				}
				_, _ = io.WriteString(w, tt.end)
			}))
			defer provider.Close()
			h := house.Open(t, map[string]string{"log-level": "off"}, house.Shipped(t, tt.plugin))
			h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{%s,"baseUrl":%q}`, tt.settings, provider.URL))
			ask := func(n int) (fuel int64) {
				t.Helper()
				words = n
				before := h.Plugins()[0].Fuel
				resp, err := h.Client.Post(h.URL+"/chats/w/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				answer, err := io.ReadAll(resp.Body)
				if err != nil || bytes.Count(answer, []byte(`"word`)) != n || !bytes.HasSuffix(answer, []byte("data: [DONE]\n\n")) {
					t.Fatalf("%d words asked for, answer %d %.500s, %v", n, resp.StatusCode, answer, err)
				}
				return h.Plugins()[0].Fuel - before
			}
			ask(10) // what the first answer alone takes
			few, many := ask(100), ask(1000)
			t.Logf("100 words spend %d units of fuel, 1,000 spend %d", few, many)
			if many > 2*few {
				t.Errorf("1,000 words spend %d units of fuel and 100 spend %d, want less than twice as many", many, few)
			}
		})
	}
}
