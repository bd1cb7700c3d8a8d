package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/setup/testhook"
)

// A tokenHouse is a provider and its token server. It counts exchanges, and how many
// there are at once.
type tokenHouse struct {
	*httptest.Server
	hold      chan struct{} // an exchange waits until it is closed
	refuse    atomic.Bool   // exchanges, and says what was sent
	exchanges atomic.Int64
	running   atomic.Int64
	most      atomic.Int64
	good      atomic.Value // the token that the provider takes
}

func newTokenHouse(t *testing.T) *tokenHouse {
	s := &tokenHouse{hold: make(chan struct{})}
	s.good.Store("canary-access-token-1")
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/token" {
			s.exchange(w, string(body))
			return
		}
		sent, _ := json.Marshal(r.Header.Get("Authorization")) // a string cannot fail
		if r.Header.Get("Authorization") != "Bearer "+s.good.Load().(string) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":%s}}`, sent)
			return
		}
		w.Header().Set("content-type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", sent)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *tokenHouse) exchange(w http.ResponseWriter, form string) {
	n := s.exchanges.Add(1)
	now := s.running.Add(1)
	defer s.running.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	<-s.hold
	w.Header().Set("content-type", "application/json")
	if s.refuse.Load() {
		said, _ := json.Marshal(form) // a string cannot fail
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"invalid_client","error_description":%s}`, said)
		return
	}
	fmt.Fprintf(w, `{"access_token":"canary-access-token-%d","token_type":"Bearer","expires_in":3600}`, n)
}

// TestTokensOfManyChats has a hundred chats at once sign in, by both schemes with an
// exchange: there is one at a time, one for all of them, and one more once the provider
// takes the token no longer. Nothing of it is in an answer, an error, the log or a trace.
func TestTokensOfManyChats(t *testing.T) {
	t.Parallel()
	const chats = 100
	for _, scheme := range []string{"oauth2ClientCredentials", "gcpServiceAccount"} {
		t.Run(scheme, func(t *testing.T) {
			s, traces := newTokenHouse(t), newTraceCollector(t)
			auth := map[string]any{"name": "in", "scheme": scheme, "scopes": []string{"s"}}
			secret := "canary-client-secret"
			grants := []string{"${baseUrl}"}
			if scheme == "gcpServiceAccount" {
				account, err := json.Marshal(map[string]string{
					"type": "service_account", "project_id": "p", "private_key_id": "k", "client_email": "me@p.example", "private_key": keyPEM(t),
				})
				if err != nil {
					t.Fatal(err)
				}
				secret, auth["credentials"] = string(account), "${a}"
			} else {
				auth["tokenUrl"], auth["clientId"], auth["clientSecret"] = s.URL+"/token", "someone", "${a}"
				grants = append(grants, s.URL)
			}
			module := house.Packed(t, house.Shipped(t, "vllm"), "signed", map[string]any{
				"abi": 2, "settings": map[string]any{"baseUrl": map[string]any{"required": true}}, "auth": []any{auth}, "limits": map[string]any{"memoryMiB": 32},
				"options": map[string]any{"a": map[string]any{"type": "string", "secret": true}}, "grants": map[string]any{"http": grants},
			})
			h := house.OpenWith(t, map[string]string{"otlp-endpoint": traces.url}, host.Options{Embedded: [][]byte{module}, Hooks: &testhook.Hooks{
				GoogleTokenURL: s.URL + "/token", Reach: upstream.Options{TLS: &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}},
			}})
			settings, err := json.Marshal(map[string]any{"source": "signed", "baseUrl": s.URL, "options": map[string]string{"a": secret}})
			if err != nil {
				t.Fatal(err)
			}
			h.Must("PATCH", "/chats/w/settings", string(settings))

			// ask has all chats ask at once, and calls sent once all have.
			ask := func(sent func()) (answers []string) {
				t.Helper()
				answers = make([]string, chats)
				var wrote, all sync.WaitGroup
				for i := range chats {
					wrote.Add(1)
					all.Go(func() {
						ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { wrote.Done() }})
						answers[i] = postChat(ctx, t, h)
					})
				}
				wrote.Wait()
				sent()
				all.Wait()
				return answers
			}
			check := func(when string, answers []string, want string, exchanges int64) {
				t.Helper()
				for _, a := range answers {
					if !strings.Contains(a, want) {
						t.Fatalf("%s, an answer = %s, want %s", when, a, want)
					}
				}
				if n, most := s.exchanges.Load(), s.most.Load(); most != 1 || exchanges > 0 && n != exchanges {
					t.Errorf("%s, there were %d exchanges, %d at once; want %d, one at a time", when, n, most, exchanges)
				}
			}
			all := ask(func() { close(s.hold) })
			check("at first", all, "[redacted]", 1)
			s.good.Store("canary-access-token-2")
			again := ask(func() {})
			check("with a token that is not taken any more", again, "[redacted]", 2)
			s.good.Store("none")
			s.refuse.Store(true)
			refused := ask(func() {})
			check("with no token to be had", refused, `"error"`, 0)

			h.Close()
			if len(traces.spans) == 0 {
				t.Error("nothing was traced")
			}
			for where, text := range map[string]string{
				"an answer": strings.Join(append(append(all, again...), refused...), "\n"), "the log": h.Log.String(), "a trace": traces.raw.String(),
			} {
				for _, secret := range []string{"canary-access-token", "canary-client-secret", url.QueryEscape("BEGIN PRIVATE KEY"), "BEGIN PRIVATE KEY", "assertion="} {
					if strings.Contains(text, secret) {
						t.Errorf("%s holds %q: …%s…", where, secret, house.Around(text, secret))
					}
				}
			}
		})
	}
}

// postChat asks the workspace w, and returns all that was answered.
func postChat(ctx context.Context, t *testing.T, h *house.House) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/chats/w/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Error(err)
		return ""
	}
	req.Header.Set("content-type", "application/json")
	resp, err := h.Client.Do(req)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}
