package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
)

// The workspace's API key, and a word that is stored beside it in the clear.
const (
	apiKey = "sk-weather-0123456789-abcdefghij"
	marker = "plain-words-beside-the-key"
)

// A weather is one way in which a provider goes wrong, and what a client then
// has to see.
type weather struct {
	name   string
	answer func(x *house.Exchange)
	status int    // of the answer; 200 is a stream
	code   string // of the error in either; empty: none
	says   string // in the error's message
	text   string // that came before
	more   func(t *testing.T, r house.Reply, got map[string]any)
}

// says answers with text and hangs up.
func says(text string) func(*house.Exchange) { return func(x *house.Exchange) { x.Say(text) } }

// retryAfter checks the header of that name.
func retryAfter(least, most int) func(*testing.T, house.Reply, map[string]any) {
	return func(t *testing.T, r house.Reply, _ map[string]any) {
		if n, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || n < least || n > most {
			t.Errorf("Retry-After = %q, want %d to %d", r.Header.Get("Retry-After"), least, most)
		}
	}
}

func weathers() []weather {
	json200 := "Content-Type: application/json\r\n"
	soon := time.Now().Add(20 * time.Minute).UTC().Format(http.TimeFormat)
	keyed := func(format string) func(*house.Exchange) { // %s is the key that came
		return func(x *house.Exchange) { x.Say(strings.ReplaceAll(format, "%s", x.Key)) }
	}
	half := `data: {"id":"p1","choices":[{"index":0,"delta":{"content":"lo`
	return []weather{
		{name: "half a chunk", answer: says(house.Chunks + house.Chunk(house.Delta("one ")) + "80\r\n" + half), status: 200, code: "llm_provider_error", says: "broke off", text: "one "},
		{name: "half a length", answer: says(house.Head + "Content-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n" + house.Delta("one ") + half), status: 200, code: "llm_provider_error", says: "broke off", text: "one "},
		{name: "half an event", answer: says(house.Stream + house.Delta("one ") + half), status: 200, code: "llm_provider_error", says: "sent an event that is not JSON", text: "one "},
		{name: "dies before an event", answer: says(house.Chunks + "80\r\n" + half), status: 502, code: "llm_provider_error", says: "broke off"},
		{name: "dies in the head", answer: says("HTTP/1.1 200 OK\r\nContent-Ty"), status: 502, code: "llm_provider_error", says: "was not reached"},
		{name: "no HTTP", answer: says("SSH-2.0-OpenSSH_9.6\r\n\r\n"), status: 502, code: "llm_provider_error", says: "was not reached"},
		{name: "never answers", answer: (*house.Exchange).Wait, status: 504, code: "llm_provider_timeout", says: "did not answer within 3s"},
		{name: "never says a word", answer: func(x *house.Exchange) { x.Say(house.Stream); x.Wait() }, status: 504, code: "llm_provider_timeout", says: "silent for 3s"},
		{name: "stalls", answer: func(x *house.Exchange) { x.Say(house.Stream + house.Delta("one ") + half); x.Wait() }, status: 200, code: "llm_provider_timeout", says: "silent for 3s", text: "one "},
		{name: "HTML", answer: says(house.Answered(200, "Content-Type: text/html\r\n", "<html><body>Sign in</body></html>")), status: 502, code: "llm_provider_error", says: "check that baseUrl points at its API"},
		{name: "429 seconds", answer: says(house.Answered(429, json200+"Retry-After: 7\r\n", `{"error":{"message":"slow down"}}`)), status: 429, code: "llm_provider_rate_limited", says: "slow down", more: retryAfter(7, 7)},
		{name: "429 date", answer: says(house.Answered(429, json200+"Retry-After: "+soon+"\r\n", `{"error":{"message":"slow down"}}`)), status: 429, code: "llm_provider_rate_limited", says: "slow down", more: retryAfter(300, 1200)},
		{name: "429 empty", answer: says(house.Answered(429, "", "")), status: 429, code: "llm_provider_rate_limited", says: "no reason"},
		{name: "megabyte line", answer: says(house.Stream + house.Delta(strings.Repeat("x", 1<<20)) + house.Finish), status: 200, text: strings.Repeat("x", 1<<20)},
		{name: "six megabyte line", answer: says(house.Stream + house.Delta("one ") + house.Delta(strings.Repeat("x", 6<<20)) + house.Finish), status: 200, code: "llm_provider_error", says: "a piece that is too large for the plugin vllm", text: "one "},
		{name: "endless line", answer: func(x *house.Exchange) {
			x.Say(house.Stream + house.Delta("one ") + `data: {"x":"`)
			for range 40 {
				x.Say(strings.Repeat("y", 1<<20))
			}
		}, status: 200, code: "llm_provider_error", says: "one event", text: "one "},
		{name: "invalid UTF-8", answer: says(house.Stream + house.Delta("a\xff\xfeb\xc3") + house.Finish), status: 200, text: "a\ufffd\ufffdb\ufffd"},
		{name: "CR", answer: says(house.Stream + strings.ReplaceAll(house.Delta("one ")+house.Delta("two")+house.Finish, "\n", "\r")), status: 200, text: "one two"},
		{name: "CRLF and a mark", answer: says(house.Stream + "\ufeff" + strings.ReplaceAll(house.Delta("one ")+house.Delta("two")+house.Finish, "\n", "\r\n")), status: 200, text: "one two"},
		{name: "no DONE", answer: says(house.Stream + house.Delta("one") + strings.TrimSuffix(house.Finish, "data: [DONE]\n\n")), status: 200, text: "one"},
		{name: "DONE without finish", answer: says(house.Stream + house.Delta("one") + "data: [DONE]\n\n"), status: 200, text: "one"},
		{name: "no finish", answer: says(house.Chunks + house.Chunk(house.Delta("one")) + "0\r\n\r\n"), status: 200, code: "llm_provider_error", says: "ended in the middle of the answer", text: "one"},
		{name: "an error as the answer", answer: says(house.Answered(200, json200, `{"error":{"message":"model is loading","type":"server_error"}}`)), status: 502, code: "llm_provider_error", says: "model is loading"},
		{name: "an error first", answer: says(house.Stream + "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n"), status: 502, code: "llm_provider_error", says: "out of memory"},
		{name: "an error later", answer: says(house.Stream + house.Delta("one ") + "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\ndata: [DONE]\n\n"), status: 200, code: "llm_provider_error", says: "out of memory", text: "one "},
		{name: "the key in a 401", answer: keyed("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nX-Echo: %s\r\n\r\n{\"error\":{\"message\":\"Incorrect API key provided: %s.\",\"code\":\"%s\"}}"), status: 502, code: "llm_provider_unauthorized", says: "Incorrect API key provided: [redacted]"},
		{name: "the key in a page", answer: keyed("HTTP/1.1 500 Oops\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n<html>Authorization: Bearer %s</html>"), status: 502, code: "llm_provider_error", says: "500"},
		{name: "the key in an error", answer: keyed(house.Stream + house.Delta("one ") + "data: {\"error\":{\"message\":\"bad key %s\"}}\n\n"), status: 200, code: "llm_provider_error", says: "bad key [redacted]", text: "one "},
		{name: "the key in a word", answer: keyed(house.Stream + house.Delta("it is %s") + house.Finish), status: 200, text: "it is [redacted]"},
		{name: "the key in a redirect", answer: keyed("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: http://127.0.0.1:1/%s\r\nContent-Length: 0\r\n\r\n"), status: 502, code: "llm_provider_error", says: "redirect"},
		{name: "503 once", answer: func(x *house.Exchange) {
			if x.Nth == 1 {
				x.Say(house.Answered(503, "", ""))
				return
			}
			x.Say(house.Stream + house.Delta("back") + house.Finish)
		}, status: 200, text: "back"},
		{name: "503 for good", answer: says(house.Answered(503, "", "")), status: 502, code: "llm_provider_error", says: "status 503"},
		{name: "empty", answer: says(house.Answered(200, "Content-Type: text/event-stream\r\n", "")), status: 502, code: "llm_provider_error", says: "empty"},
		{name: "DONE alone", answer: says(house.Stream + "data: [DONE]\n\n"), status: 502, code: "llm_provider_error", says: "empty"},
		{name: "comments alone", answer: says(house.Stream + ": ping\n\n: ping\n\n"), status: 502, code: "llm_provider_error", says: "empty"},
		{name: "brotli", answer: says(house.Head + "Content-Type: text/event-stream\r\nContent-Encoding: br\r\n\r\n\x01\x02"), status: 502, code: "llm_provider_error", says: `encoded as "br"`},
	}
}

// TestWeather asks, through the whole host and the vLlm plugin, a provider that
// goes wrong in every way that is known: the client is told what happened and
// what to do, and never takes a part for the whole; the next request is none
// the worse; the API key is in no answer, log or file; no document is lost and
// no goroutine stays.
//
//parley:option provider-first-byte-timeout provider-silence-timeout
func TestWeather(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	w := house.NewWire(t)
	h := house.Open(t, map[string]string{"provider-first-byte-timeout": "3s", "provider-silence-timeout": "3s"}, house.Shipped(t, "vllm"))
	h.AddFilms(100)
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"apiKey":%q,"prompts":{"system":%q}}`, w.URL, apiKey, marker))

	t.Run("all", func(t *testing.T) {
		for _, tt := range weathers() {
			w.On(tt.name, tt.answer)
			t.Run(tt.name, func(t *testing.T) {
				if strings.Contains(tt.says, "3s") { // those that wait, wait together, and less than a stream stays shut
					t.Parallel()
				}
				tt.check(t, h)
			})
		}
	})
	for model, want := range map[string]int{"503 once": 2, "503 for good": 2, "429 seconds": 1, "half a chunk": 1, "stalls": 1, "dies before an event": 1} {
		if got := w.Count(model); got != want {
			t.Errorf("%s: %d requests, want %d", model, got, want)
		}
	}

	// A port where nothing listens, as far as one can have that.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	h.Must("PATCH", "/chats/nobody/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":"http://%s","apiKey":%q}`, ln.Addr(), apiKey))
	if r, _ := h.Ask("nobody", "m"); r.Status != http.StatusBadGateway || !strings.Contains(r.Body, " was not reached; the host's log has the cause") {
		t.Errorf("connection refused: status %d, body %s", r.Status, r.Body)
	}

	h.CheckFilms(100)
	h.CheckSecret(apiKey, marker)
}

// check asks, and asks again to see that all is well.
func (tt weather) check(t *testing.T, h *house.House) {
	r, got := h.Ask("w", tt.name)
	if r.Status != tt.status {
		t.Fatalf("status %d, want %d: %.500s", r.Status, tt.status, r.Body)
	}
	if !utf8.ValidString(r.Body) {
		t.Error("the answer is not UTF-8")
	}
	var failure map[string]any
	if r.Status != http.StatusOK {
		if err := json.Unmarshal([]byte(r.Body), &failure); err != nil || failure["error"] == nil {
			t.Errorf("error body %.500q: %v", r.Body, err)
		}
	} else {
		if got["text"] != tt.text {
			t.Errorf("text = %.200q, want %.200q", got["text"], tt.text)
		}
		if failure, _ = got["error"].(map[string]any); failure != nil {
			if got["finish_reason"] != nil {
				t.Errorf("finish_reason = %v beside an error: a client takes the part for the whole", got["finish_reason"])
			}
		} else if got["finish_reason"] != "stop" {
			t.Errorf("finish_reason = %v, want stop: %.500s", got["finish_reason"], r.Body)
		}
	}
	if house.Text(failure["code"]) != tt.code || !strings.Contains(house.Text(failure["message"]), tt.says) {
		t.Errorf("error %.500v, want code %q and %q", failure, tt.code, tt.says)
	}
	if tt.more != nil {
		tt.more(t, r, got)
	}
	if r, got := h.Ask("w", "good"); r.Status != http.StatusOK || got["text"] != "fine" || got["error"] != nil {
		t.Errorf("the next request: status %d, %.300s", r.Status, r.Body)
	}
}
