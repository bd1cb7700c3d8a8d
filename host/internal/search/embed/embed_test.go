package embed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/search/embed"
)

const key = "sk-of-the-embedder"

// endpoint serves answer and returns where.
func endpoint(t *testing.T, answer http.HandlerFunc) *embed.Endpoint {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	s, err := embed.ParseShape([]byte(openAIRequest), []byte(openAIResponse))
	if err != nil {
		t.Fatal(err)
	}
	return &embed.Endpoint{URL: srv.URL + "/v1/embeddings", Key: secret.New(key), Shape: s}
}

func client(t *testing.T) *embed.Client {
	up := upstream.New(upstream.Options{Private: upstream.AnyPrivate()})
	t.Cleanup(func() { _ = up.Close() })
	return &embed.Client{Upstream: up, Pause: time.Millisecond}
}

// lengths answers with the length of each text as its vector.
func lengths(w http.ResponseWriter, r *http.Request) {
	var in struct{ Input []string }
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &in); err != nil || r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	var parts []string
	for _, t := range in.Input {
		parts = append(parts, fmt.Sprintf(`{"embedding":[%d,1]}`, len(t)))
	}
	fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(parts, ","))
}

func TestEmbed(t *testing.T) {
	var requests atomic.Int32
	e := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if got := r.Header.Get("Authorization"); got != "Bearer "+key {
			t.Errorf("Authorization = %q", got)
		}
		lengths(w, r)
	})
	texts := make([]string, 150)
	for i := range texts {
		texts[i] = strings.Repeat("x", i)
	}
	texts[7] = "${apiKey}" // of a document: seven letters and two, no more
	vs, err := client(t).Embed(t.Context(), e, 0, texts, 1)
	if err != nil || len(vs) != len(texts) {
		t.Fatalf("Embed = %d vectors, %v", len(vs), err)
	}
	for i, v := range vs {
		if int(v[0]) != len(texts[i]) {
			t.Errorf("vector %d is of a text of %v bytes, want %d", i, v[0], len(texts[i]))
		}
	}
	if n := requests.Load(); n != 3 {
		t.Errorf("%d requests for 150 texts, want 3", n)
	}
}

// Long texts go in requests of their own.
func TestEmbedLongTexts(t *testing.T) {
	var requests atomic.Int32
	e := endpoint(t, func(w http.ResponseWriter, r *http.Request) { requests.Add(1); lengths(w, r) })
	long := strings.Repeat("x", 400<<10)
	if _, err := client(t).Embed(t.Context(), e, 0, []string{long, long, "a"}, 1); err != nil {
		t.Fatal(err)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

func TestEmbedKeyInAnotherHeader(t *testing.T) {
	e := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Api-Key") != key || r.Header.Get("Authorization") != "" {
			t.Errorf("headers = %v", r.Header)
		}
		lengths(w, r)
	})
	e.Headers = map[string]string{"Api-Key": embed.KeyPlace}
	if _, err := client(t).Embed(t.Context(), e, 0, []string{"a"}, 1); err != nil {
		t.Error(err)
	}
}

func TestEmbedTriesAgain(t *testing.T) {
	for _, status := range []int{429, 500, 503} {
		var requests atomic.Int32
		e := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) < 3 {
				w.WriteHeader(status)
				return
			}
			lengths(w, r)
		})
		if _, err := client(t).Embed(t.Context(), e, 0, []string{"a"}, 3); err != nil {
			t.Errorf("%d twice: %v, want vectors", status, err)
		}
		requests.Store(0)
		if _, err := client(t).Embed(t.Context(), e, 0, []string{"a"}, 2); err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) || requests.Load() != 2 {
			t.Errorf("%d with two tries: %v after %d requests", status, err, requests.Load())
		}
	}
}

func TestEmbedFails(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"refused key", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "your key is "+key, http.StatusUnauthorized)
		}, "refused the key (401)"},
		{"refused request", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "secret", http.StatusBadRequest) }, "answered 400"},
		{"not JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>secret") }, "has nothing at `data`"},
		{"another length", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[{"embedding":[1]}]}`) }, "vectors of 1 numbers; expected 2"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "redirect"},
		{"breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"data":[`)
		}, "has nothing at `data`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := endpoint(t, tt.answer)
			_, err := client(t).Embed(t.Context(), e, 2, []string{"a"}, 2)
			failure, ok := errors.AsType[*embed.Error](err)
			if !ok || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Embed = %v, want an Error that says %q", err, tt.want)
			}
			if all := failure.Message + err.Error(); strings.Contains(all, key) || strings.Contains(all, "secret") {
				t.Errorf("Embed = %v: repeats the key or the answer", err)
			}
		})
	}
}

// TestEmbedUnreachable wants the same words of a port where nothing listens and
// of one where something does that is no embedder: who chooses the URL may not be
// told which is which.
func TestEmbedUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "220 ready\r\n")
			c.Close()
		}
	}()
	for _, address := range []string{"127.0.0.1:1", ln.Addr().String()} {
		e := endpoint(t, lengths)
		e.URL = "http://" + address + "/"
		_, err := client(t).Embed(t.Context(), e, 0, []string{"a"}, 2)
		failure, ok := errors.AsType[*embed.Error](err)
		if !ok || failure.Message != "the embedder was not reached; the host's log has the cause" || failure.Err == nil {
			t.Errorf("Embed by %s = %v", address, err)
		}
	}
}

// failing is an upstream whose every request ends with an error.
type failing struct {
	err   error
	asked int
}

func (f *failing) Do(context.Context, *outbound.Request) (outbound.Response, error) {
	f.asked++
	return nil, f.err
}

// Credentials that sign nobody in are told, and not tried again.
func TestEmbedUnauthorized(t *testing.T) {
	up := &failing{err: &outbound.Error{Kind: outbound.Unauthorized, Message: "tokens.example gave no token"}}
	c := &embed.Client{Upstream: up, Pause: time.Millisecond}
	_, err := c.Embed(t.Context(), endpoint(t, lengths), 0, []string{"a"}, 5)
	failure, ok := errors.AsType[*embed.Error](err)
	if !ok || failure.Message != "the embedder was not reached: tokens.example gave no token" || up.asked != 1 {
		t.Errorf("Embed = %v after %d requests, want the reason after one", err, up.asked)
	}
}

func TestEmbedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if _, err := client(t).Embed(ctx, e, 0, []string{"a"}, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed = %v, want %v", err, context.Canceled)
	}
}
