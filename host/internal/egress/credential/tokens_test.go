package credential_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/egress/credential"
)

// canary is in every secret of these tests: it may be in no error.
const canary = "canary-do-not-show"

// A tokenServer counts the tokens that it gives, or answers as answer says.
type tokenServer struct {
	*httptest.Server
	given  atomic.Int32
	life   int
	answer func(w http.ResponseWriter, form url.Values) bool // true: that was it
}

func newTokenServer(t *testing.T, s *tokenServer) *tokenServer {
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(b))
		if s.answer != nil && s.answer(w, form) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":%d}`, s.given.Add(1), s.life)
	}))
	t.Cleanup(s.Close)
	return s
}

func entra(s *tokenServer) *abi.Auth {
	return &abi.Auth{
		Name: "entra", Scheme: abi.AuthOAuth2ClientCredentials, TokenURL: s.URL + "/${tenant}/token", ClientID: "${client}", ClientSecret: "${secret}",
		Scopes: []string{"https://scope.example/.default"}, Parameters: map[string]string{"resource": "${tenant}"},
	}
}

func values() map[string]string {
	return map[string]string{"tenant": "t1", "client": "c1", "secret": canary}
}

func token(req *http.Request) string {
	return strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
}

// TestTokens goes through a token's life: one exchange, used again, renewed before
// its end, dropped, and others for another secret or workspace.
func TestTokens(t *testing.T) {
	var forms []url.Values
	srv := newTokenServer(t, &tokenServer{life: 3600, answer: func(_ http.ResponseWriter, form url.Values) bool {
		forms = append(forms, form)
		return false
	}})
	now := time.Now()
	s := credential.New(credential.Options{Transport: http.DefaultTransport, Now: func() time.Time { return now }})
	a, v := entra(srv), values()
	next := func(want string) outbound.Signed {
		t.Helper()
		req, signed, err := sign(t, s, "https://x.example/", "{}", a, v)
		if err != nil || token(req) != want || len(signed.Secrets) != 1 || signed.Secrets[0] != want {
			t.Errorf("token %q, %q, %v; want %s", token(req), signed.Secrets, err, want)
		}
		return signed
	}
	next("token-1")
	next("token-1")
	want := url.Values{"grant_type": {"client_credentials"}, "client_id": {"c1"}, "client_secret": {canary}, "scope": {"https://scope.example/.default"}, "resource": {"t1"}}
	if len(forms) != 1 || forms[0].Encode() != want.Encode() {
		t.Errorf("the server was asked %v, want %v once", forms, want)
	}
	now = now.Add(54 * time.Minute) // of 60, five minutes before the end are kept
	next("token-1")
	now = now.Add(time.Minute + time.Second)
	signed := next("token-2")
	signed.Drop()
	next("token-3")
	signed.Drop() // of one that is no longer in use
	next("token-3")
	v["secret"] = canary + "2"
	next("token-4")
	v["tenant"] = "t2"
	next("token-5")
}

// TestTokenEnds asks for another token at each request where one ends at once, or has
// ended, and keeps one whose answer does not say when it ends, or says nothing that is a time.
func TestTokenEnds(t *testing.T) {
	for says, kept := range map[string]bool{
		`"expires_in":0`: false, `"expires_in":"0"`: false, `"expires_in":-5`: false, `"expires_in":60`: true,
		`"expires_in":null`: true, `"scope":"a"`: true,
		"scope=a": true, "expires_in=0": false, // of an answer that is a form
	} {
		isForm := says[0] != '"'
		for _, scheme := range []string{"token", "oauth2"} {
			if isForm && scheme == "token" {
				continue // which reads JSON
			}
			asked := 0
			srv := newTokenServer(t, &tokenServer{answer: func(w http.ResponseWriter, _ url.Values) bool {
				asked++
				kind, form := "application/json", `{"access_token":"token-%d",%s}`
				if isForm {
					kind, form = "application/x-www-form-urlencoded", "access_token=token-%d&%s"
				}
				w.Header().Set("Content-Type", kind)
				fmt.Fprintf(w, form, asked, says)
				return true
			}})
			a := entra(srv)
			if scheme == "token" {
				a = &abi.Auth{Name: "iam", Scheme: abi.AuthToken, TokenURL: srv.URL + "/t", TokenAnswer: abi.RawJSON(`{"access_token":"{{token}}","expires_in":"{{seconds}}"}`)}
			}
			s := credential.New(credential.Options{Transport: http.DefaultTransport})
			want := "token-1"
			for n := range 3 {
				if !kept {
					want = fmt.Sprintf("token-%d", n+1)
				}
				if req, _, err := sign(t, s, "https://x.example/", "{}", a, values()); err != nil || token(req) != want {
					t.Errorf("%s, %s: request %d has %q, %v; want %s", scheme, says, n+1, token(req), err, want)
				}
			}
		}
	}
}

// TestTokensAtOnce signs in from a hundred chats: there is one exchange, and one
// for each other workspace.
func TestTokensAtOnce(t *testing.T) {
	began, release := make(chan struct{}, 8), make(chan struct{})
	srv := newTokenServer(t, &tokenServer{life: 3600, answer: func(http.ResponseWriter, url.Values) bool {
		began <- struct{}{}
		<-release
		return false
	}})
	s := credential.New(credential.Options{Transport: http.DefaultTransport})
	ask := func(ctx context.Context, workspace string) (string, error) {
		req := httptest.NewRequest(http.MethodPost, "https://x.example/", nil)
		_, err := s.Sign(ctx, req, nil, &outbound.Request{Workspace: workspace, Plugin: "p 1.0.0", Credential: &outbound.Credential{Auth: entra(srv), Values: values()}})
		return token(req), err
	}
	var wg sync.WaitGroup
	tokens := make([]string, 100)
	for i := range tokens {
		wg.Go(func() {
			var err error
			if tokens[i], err = ask(t.Context(), "w"); err != nil {
				t.Error(err)
			}
		})
	}
	<-began
	// One that leaves does not end the exchange that others wait for.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ask(ctx, "w"); err == nil {
		t.Error("a chat that was left got a token")
	}
	close(release)
	wg.Wait()
	for _, got := range tokens {
		if got != "token-1" {
			t.Fatalf("tokens %q, want token-1 for all", tokens)
		}
	}
	if got, err := ask(t.Context(), "other"); err != nil || got != "token-2" {
		t.Errorf("another workspace has %q, %v", got, err)
	}
}

// TestTokensFail meets servers that give none: the errors name host and code, and
// nothing that was said or sent.
func TestTokensFail(t *testing.T) {
	say := func(status int, body string) func(http.ResponseWriter, url.Values) bool {
		return func(w http.ResponseWriter, form url.Values) bool {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, body, form.Get("client_secret"))
			return true
		}
	}
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter, url.Values) bool
		kind   outbound.ErrorKind
		want   string
	}{
		{"refused", say(400, `{"error":"invalid_client","error_description":"AADSTS7000215 %s"}`), outbound.Unauthorized, "with status 400 and error invalid_client"},
		{"a code that is none", say(401, `{"error":"the secret %s is wrong"}`), outbound.Unauthorized, "gave no token, with status 401"},
		{"a page", say(503, `<html>%s</html>`), outbound.Broken, "with status 503"},
		{"no token", say(200, `{"token_type":"%s"}`), outbound.Unauthorized, "cannot be read"},
		{"a token with a line end", say(200, `{"access_token":"a\nb%s"}`), outbound.Unauthorized, "cannot be read"},
		{"a redirect", func(w http.ResponseWriter, _ url.Values) bool {
			w.Header().Set("Location", "https://elsewhere.example/"+canary)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}, outbound.Unauthorized, "with status 307"},
		{"another clock", func(w http.ResponseWriter, f url.Values) bool {
			w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
			return say(400, `{"error":"invalid_grant","error_description":"%s"}`)(w, f)
		}, outbound.Unauthorized, "its clock and the host's differ by 1h0m"},
		{"endless", func(w http.ResponseWriter, _ url.Values) bool {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"`)
			for range 32 {
				fmt.Fprint(w, strings.Repeat(canary, 1<<12/len(canary)))
			}
			fmt.Fprint(w, `"}`)
			return true
		}, outbound.Unauthorized, "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := newTokenServer(t, &tokenServer{life: 3600, answer: tt.answer})
			s := credential.New(credential.Options{Transport: http.DefaultTransport})
			_, _, err := sign(t, s, "https://x.example/", "{}", entra(srv), values())
			e, ok := errors.AsType[*outbound.Error](err)
			host := strings.TrimPrefix(srv.URL, "http://")
			if !ok || e.Kind != tt.kind || !strings.Contains(e.Message, tt.want) || !strings.HasPrefix(e.Message, host) || strings.Contains(err.Error(), canary) {
				t.Errorf("error %v of kind %s, want %s with %q", err, e.Kind, tt.kind, tt.want)
			}
			// What failed is asked for anew.
			srv.answer = nil
			if req, _, err := sign(t, s, "https://x.example/", "{}", entra(srv), values()); err != nil || token(req) != "token-1" {
				t.Errorf("afterwards: %q, %v", token(req), err)
			}
		})
	}
}

// TestTokensSlow meets a server that does not answer, and none at all.
func TestTokensSlow(t *testing.T) {
	release := make(chan struct{})
	srv := newTokenServer(t, &tokenServer{answer: func(http.ResponseWriter, url.Values) bool { <-release; return true }})
	s := credential.New(credential.Options{Transport: http.DefaultTransport, ExchangeTime: 20 * time.Millisecond})
	_, _, err := sign(t, s, "https://x.example/", "{}", entra(srv), values())
	close(release)
	if e, ok := errors.AsType[*outbound.Error](err); !ok || e.Kind != outbound.Timeout {
		t.Errorf("a slow server: %v", err)
	}
	srv.Close()
	s = credential.New(credential.Options{Transport: http.DefaultTransport})
	_, _, err = sign(t, s, "https://x.example/", "{}", entra(srv), values())
	if e, ok := errors.AsType[*outbound.Error](err); !ok || e.Kind != outbound.Connect || strings.Contains(e.Error(), canary) {
		t.Errorf("no server: %v", err)
	}
}

// keyFile is a service account's, whose token_uri names somebody else.
func keyFile(t *testing.T) (file string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{
		"type": "service_account", "project_id": "p", "private_key_id": "k1", "client_email": "me@p.example",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": "http://127.0.0.1:1/" + canary,
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestServiceAccount(t *testing.T) {
	file := keyFile(t)
	var claims, head map[string]any
	srv := newTokenServer(t, &tokenServer{life: 3600, answer: func(w http.ResponseWriter, form url.Values) bool {
		parts := strings.Split(form.Get("assertion"), ".")
		if form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 {
			w.WriteHeader(http.StatusBadRequest)
			return true
		}
		for i, into := range []*map[string]any{&head, &claims} {
			b, _ := base64.RawURLEncoding.DecodeString(parts[i])
			_ = json.Unmarshal(b, into) // looked at below
		}
		return false
	}})
	s := credential.New(credential.Options{Transport: http.DefaultTransport, GoogleTokenURL: srv.URL + "/token"})
	a := &abi.Auth{Name: "account", Scheme: abi.AuthGCPServiceAccount, Credentials: "${file}", Scopes: []string{"https://www.googleapis.com/auth/cloud-platform"}}
	req, signed, err := sign(t, s, "https://x.example/", "{}", a, map[string]string{"file": file})
	if err != nil || token(req) != "token-1" || signed.Drop == nil {
		t.Fatalf("Sign = %v, %q", err, token(req))
	}
	if head["alg"] != "RS256" || head["kid"] != "k1" || claims["iss"] != "me@p.example" || claims["aud"] != srv.URL+"/token" ||
		claims["scope"] != a.Scopes[0] || claims["exp"].(float64)-claims["iat"].(float64) > 3600+10 {
		t.Errorf("assertion %v %v", head, claims)
	}
	for _, tt := range []struct {
		file, want string
	}{
		{"{", "not JSON"},
		{`{"type":"external_account","token_url":"` + canary + `"}`, "only service_account"},
		{`{"type":"service_account"}`, "lacks client_email"},
		{strings.Replace(file, "-----BEGIN", "x", 1), "cannot be read"},
	} {
		_, _, err := sign(t, s, "https://x.example/", "{}", a, map[string]string{"file": tt.file})
		e, _ := errors.AsType[*outbound.Error](err)
		if e == nil || e.Kind != outbound.Unauthorized || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), canary) {
			t.Errorf("a key file %.40s: %v, want %q", tt.file, err, tt.want)
		}
	}
}
