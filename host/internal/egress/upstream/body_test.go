package upstream

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestErrorBody(t *testing.T) {
	text := `{"error":"bad key ` + apiKey + `"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", "Bearer "+apiKey)
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, text)
	}))
	defer s.Close()
	c := client(t, Options{})
	out := to(s.URL)
	out.Secrets = map[string]string{"apiKey": apiKey}
	// At every limit, no part of the key shows but where the rest of it was
	// taken away, too.
	for limit := range int64(len(text) + 10) {
		r, err := c.Do(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		body := string(r.Body(limit))
		want := `{"error":"bad key [redacted]"}`
		if n := int(limit); n < len(text) && n < len(want) {
			want = want[:n]
		}
		if int64(len(body)) > limit || !strings.HasPrefix(want, body) || strings.Contains(body, apiKey[:3]) {
			t.Errorf("Body(%d) = %q, want a start of %q", limit, body, want)
		}
		if limit >= int64(len(text)) && body != want {
			t.Errorf("Body(%d) = %q, want %q", limit, body, want)
		}
		if r.Status() != 401 || r.Header().Get("X-Echo") != "Bearer [redacted]" {
			t.Errorf("status %d, X-Echo %q", r.Status(), r.Header().Get("X-Echo"))
		}
		r.Close()
	}
}

// TestErrorBodyBreaks checks that a body that breaks off is shown as far as it
// came, without a piece of the key at its end.
func TestErrorBodyBreaks(t *testing.T) {
	l := say(t, "HTTP/1.1 500 Oh\r\nContent-Length: 1000\r\n\r\nsome words, and more of them: "+apiKey[:9])
	c := client(t, Options{})
	out := to(l.url)
	out.Secrets = map[string]string{"apiKey": apiKey}
	r, err := c.Do(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b := string(r.Body(4096)); strings.Contains(b, apiKey[:3]) || !strings.HasPrefix("some words, and more of them: ", b) {
		t.Errorf("Body = %q, want the words alone", b)
	}
}

// TestEventsScrubbed checks that a key echoed inside a stream does not reach
// the plugin, and that a word for a key leaves the model its words.
func TestEventsScrubbed(t *testing.T) {
	l := say(t, toEnd+"data: {\"error\":\"key "+apiKey+"\"}\n\ndata: EMPTY secret-word\n\n")
	c := client(t, Options{})
	out := to(l.url)
	out.Secrets = map[string]string{"apiKey": apiKey, "a": "EMPTY", "b": "secret-word"}
	got, err := get(t, c, out)
	if want := data(`{"error":"key [redacted]"}`, "EMPTY secret-word"); err != nil || !slices.Equal(got, want) {
		t.Errorf("events %q, error %v; want %q", got, err, want)
	}
}
