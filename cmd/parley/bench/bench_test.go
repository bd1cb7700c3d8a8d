package bench

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestFloor(t *testing.T) {
	provider := serve(t, &Provider{})
	for _, base := range []string{provider, serve(t, Floor(provider))} {
		to := &Target{URL: base + "/v1/chat/completions", Client: http.DefaultClient}
		if errs := to.Streams(t.Context(), "c20-d0", 30, 20); len(errs) > 0 {
			t.Errorf("%d of 30 answers failed: %v", len(errs), errs)
		}
	}
}

// What is not whole is told, and the floor makes nothing whole.
func TestStreamTells(t *testing.T) {
	word := func(i int) string { return `data: {"choices":[{"delta":{"content":"` + Word(i) + `"}}]}` + "\n\n" }
	for name, tt := range map[string]struct{ answer, want string }{
		"a word lost":    {word(0) + word(2) + "data: [DONE]\n\n", "was due"},
		"a word twice":   {word(0) + word(0) + word(1) + "data: [DONE]\n\n", "was due"},
		"no end":         {word(0) + word(1), "[DONE] false"},
		"an early end":   {word(0) + "data: [DONE]\n\n", "after 1 of 2"},
		"cut in a word":  {word(0) + "CUT", "unexpected EOF"},
		"another status": {"STATUS", "status 503"},
	} {
		t.Run(name, func(t *testing.T) {
			base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tt.answer == "STATUS" {
					http.Error(w, "no", http.StatusServiceUnavailable)
					return
				}
				text, cut := strings.CutSuffix(tt.answer, "CUT")
				_, _ = io.WriteString(w, text)
				w.(http.Flusher).Flush()
				if cut {
					panic(http.ErrAbortHandler)
				}
			}))
			to := &Target{URL: serve(t, Floor(base)) + "/x", Client: http.DefaultClient}
			if _, err := to.Stream(t.Context(), "c2-d0", 2); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Stream: %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// A process that works uses time, less than a hundredth of a second can be told
// apart, and no process has the id 0.
func TestCPU(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("measured only on Linux")
	}
	before, ok := CPU(os.Getpid())
	if !ok || before <= 0 || before%(10*time.Millisecond) == 0 {
		t.Errorf("CPU of the test: %v, %v; want more than none, and to the nanosecond", before, ok)
	}
	for after := before; after <= before; {
		after, _ = CPU(os.Getpid())
	}
	if used, ok := CPU(0); ok {
		t.Errorf("CPU of no process: %v, want none", used)
	}
}
