package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/secret"
)

func sender(t *testing.T, url string) *TelemetrySender {
	t.Helper()
	s, err := NewTelemetrySender(url, secret.New("write-key"), Options{Private: AnyPrivate()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestTelemetrySender(t *testing.T) {
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "17")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(srv.Close)
	answer, err := sender(t, srv.URL+"/v1/batch").Send(t.Context(), []byte(`{"batch":[]}`))
	if err != nil || answer.Status != 429 || answer.RetryAfter != "17" {
		t.Fatalf("Send = %+v, %v, want 429 and 17", answer, err)
	}
	user, password, _ := got.BasicAuth()
	if got.URL.Path != "/v1/batch" || string(body) != `{"batch":[]}` || user != "write-key" || password != "" || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the platform got %s %s with %q, user %q, want what was sent", got.Method, got.URL, body, user)
	}
	for name := range got.Header {
		switch name {
		case "Authorization", "Content-Type", "Content-Length", "User-Agent":
		default:
			t.Errorf("the request has a header %s, which nobody asked for", name)
		}
	}
	if ua := got.Header.Get("User-Agent"); ua != "parley" {
		t.Errorf("User-Agent is %q, want parley and no more", ua)
	}
}

// TestTelemetrySenderRedirect follows none: another host gets nothing.
func TestTelemetrySenderRedirect(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(other.Close)
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(srv.Close)
	answer, err := sender(t, srv.URL).Send(t.Context(), []byte(`{}`))
	if err != nil || answer.Status != http.StatusTemporaryRedirect || asked {
		t.Errorf("Send = %+v, %v, the other host was asked: %v; want 307 and not", answer, err, asked)
	}
}

// TestTelemetrySenderWeather: whatever the network does is an error or an
// answer, and never a success that was none.
func TestTelemetrySenderWeather(t *testing.T) {
	cut := func(answer string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, answer)
				_ = c.(*net.TCPConn).SetLinger(0) // a reset, not an end
				_ = c.Close()
			}
		}()
		return "http://" + l.Addr().String()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	_ = l.Close()
	for name, url := range map[string]string{
		"no listener":           nobody,
		"reset at once":         cut(""),
		"reset in the head":     cut("HTTP/1.1 20"),
		"200, reset mid-body":   cut("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"),
		"metadata of the cloud": "http://169.254.169.254/",
	} {
		if answer, err := sender(t, url).Send(t.Context(), []byte(`{}`)); err == nil {
			t.Errorf("%s: Send = %+v, want an error", name, answer)
		} else if strings.Contains(err.Error(), "write-key") {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
}

// TestTelemetrySenderSilent ends when its context does.
func TestTelemetrySenderSilent(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sender(t, srv.URL).Send(ctx, []byte(`{}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Send to one that does not answer: %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestCheckTelemetryURL(t *testing.T) {
	for _, bad := range []string{"", "example.com", "ftp://example.com", "https://key@example.com", "https://example.com/#x", "https://"} {
		if CheckTelemetryURL(bad) == nil {
			t.Errorf("CheckTelemetryURL(%q): right, want wrong", bad)
		}
	}
	if err := CheckTelemetryURL("https://example.com/v1/batch?x=1"); err != nil {
		t.Errorf("CheckTelemetryURL: %v", err)
	}
}
