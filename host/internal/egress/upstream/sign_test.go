package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// tokenSigner is an [outbound.Signer] of tokens that are numbered.
type tokenSigner struct {
	n     int
	drops int
	err   error
}

func (s *tokenSigner) Sign(_ context.Context, req *http.Request, body []byte, _ *outbound.Request) (outbound.Signed, error) {
	if s.err != nil {
		return outbound.Signed{}, s.err
	}
	token := fmt.Sprintf("access-token-of-number-%d", s.n)
	u := *req.URL
	u.RawQuery = "key=" + token
	req.URL = &u
	req.Header.Set("Authorization", fmt.Sprintf("%s %d", token, len(body)))
	return outbound.Signed{Secrets: []string{token}, Drop: func() { s.drops++; s.n++ }}, nil
}

// TestSigned sends requests with a credential: what the plugin wrote stands as it
// is, a token that is refused is dropped and the request sent once more, and
// nothing of a token comes back or is recorded.
func TestSigned(t *testing.T) {
	var asked []string
	good := "access-token-of-number-1"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization"))
		if !strings.HasPrefix(r.Header.Get("Authorization"), good) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, "no %s", r.Header.Get("Authorization"))
			return
		}
		w.Header().Set("X-Request-Id", "r1 "+good)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s %s\n\nevent: :head\ndata: mine\n\n", r.Header.Get("X-Own"), good)
	}))
	defer s.Close()
	dir := t.TempDir()
	record, err := NewRecorder(RecordOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	signer := &tokenSigner{}
	c := client(t, Options{Signer: signer, Record: record})
	out := to(s.URL)
	out.Encoded.Headers = map[string]string{"X-Own": "${apiKey}"}
	out.Encoded.Head, out.Round = []string{"X-Request-Id", "X-None"}, 2
	out.Credential = &outbound.Credential{Auth: &abi.Auth{Scheme: abi.AuthHeader}}
	got, err := get(t, c, out)
	want := []event{{":head", `{"status":200,"headers":{"x-request-id":"r1 [redacted]"},"round":2}`}, {"", "${apiKey} [redacted]"}, {"", "mine"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("events %q, %v; want %q", got, err, want)
	}
	if wantAsked := []string{"access-token-of-number-0 13", good + " 13"}; !slices.Equal(asked, wantAsked) || signer.drops != 1 {
		t.Errorf("the provider was asked with %q and %d tokens dropped, want %q and 1", asked, signer.drops, wantAsked)
	}
	good = "another" // so that the second one is refused, too: that answer stands
	r, err := c.Do(t.Context(), out)
	if err != nil || r.Status() != http.StatusUnauthorized || signer.drops != 2 {
		t.Fatalf("refused twice: %v, %d tokens dropped", err, signer.drops)
	}
	if body := string(r.Body(100)); !strings.HasPrefix(body, "no [redacted]") {
		t.Errorf("body %q", body)
	}
	r.Close()
	err = filepath.Walk(dir, func(path string, i os.FileInfo, err error) error {
		if err == nil && i.Mode().IsRegular() {
			if b, _ := os.ReadFile(path); strings.Contains(string(b), "access-token") || strings.Contains(string(b), "key=") {
				t.Errorf("%s holds a token: %s", path, b)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}

	signer.err = &outbound.Error{Kind: outbound.Unauthorized, Message: "no token"}
	before := len(asked)
	if _, err := c.Do(t.Context(), out); err != signer.err || len(asked) != before {
		t.Errorf("without a token: %v, and %d requests", err, len(asked)-before)
	}
	out.Credential.Auth = nil
	if r, err = c.Do(t.Context(), out); err != nil || r.Status() != http.StatusUnauthorized {
		t.Fatalf("unsigned: %v", err)
	}
	r.Close()
	if asked[len(asked)-1] != "" {
		t.Errorf("auth none was signed: %q", asked[len(asked)-1])
	}
	bare := client(t, Options{})
	out.Credential.Auth = &abi.Auth{Scheme: abi.AuthHeader}
	if _, err := bare.Do(t.Context(), out); err == nil {
		t.Error("a client without a signer sent a request that wants one")
	}
}

// TestPluginTimeouts holds what a plugin says of its limits to the deployment's
// most, which does not lower its own.
//
//parley:option provider-timeout-max
func TestPluginTimeouts(t *testing.T) {
	l := Limits{FirstByte: time.Minute, Silence: 20 * time.Minute, Most: 10 * time.Minute}.withDefaults()
	for _, tt := range []struct {
		firstByte, silence         time.Duration
		encoded                    int // what the request itself says, in seconds
		wantFirstByte, wantSilence time.Duration
	}{
		{0, 0, 0, time.Minute, 20 * time.Minute},
		{5 * time.Minute, time.Second, 0, 5 * time.Minute, time.Second},
		{time.Hour, time.Hour, 0, 10 * time.Minute, 20 * time.Minute},
		{0, 0, 30, 30 * time.Second, 20 * time.Minute},
		{0, 0, 300, time.Minute, 20 * time.Minute}, // it lowers, and never raises
		{5 * time.Minute, 0, 120, 2 * time.Minute, 20 * time.Minute},
	} {
		got := l.of(&outbound.Request{Encoded: &abi.EncodeResponse{FirstByteSeconds: tt.encoded}, FirstByte: tt.firstByte, Silence: tt.silence})
		if got.FirstByte != tt.wantFirstByte || got.Silence != tt.wantSilence {
			t.Errorf("limits of %v, %v and %d s = %v, %v; want %v, %v", tt.firstByte, tt.silence, tt.encoded, got.FirstByte, got.Silence, tt.wantFirstByte, tt.wantSilence)
		}
	}
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	c := client(t, Options{Limits: Limits{FirstByte: time.Hour}})
	out := to(s.URL)
	out.FirstByte = time.Millisecond
	_, err := c.Do(t.Context(), out)
	if e, ok := errors.AsType[*outbound.Error](err); !ok || e.Kind != outbound.Timeout || !strings.Contains(e.Message, "1ms") {
		t.Errorf("a plugin's own limit: %v", err)
	}
}
