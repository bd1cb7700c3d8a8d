package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTelemetryViewCommand serves the page and is interrupted.
func TestTelemetryViewCommand(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"results":[]}`
		if r.URL.Path == "/telemetry" {
			answer = `{"on":true,"instanceUid":"u-77"}`
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(srv.Close)
	p := start(t, "telemetry", "view", "--url", srv.URL)
	address := p.waitFor("http://127.0.0.1:")
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(b), "<dd>u-77</dd>") {
		t.Errorf("GET %s: %s, %v\n%.300s", address, resp.Status, err, b)
	}
	srv.Close()
	if code, out := parleySays(t, "telemetry", "view", "--url", srv.URL); code != exitFailed || !strings.Contains(out, "start it") {
		t.Errorf("view without a host = %d %q, want a failure at once", code, out)
	}
}
