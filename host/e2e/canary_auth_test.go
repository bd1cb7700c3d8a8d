package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/setup/testhook"
)

// A scheme is a way to sign in, and secrets for it.
type scheme struct {
	auth    map[string]any
	plain   map[string]string // options that are no secrets
	secrets map[string]string
	// derived is the form of what the host makes of them and sends, in a group.
	derived string
}

// keyPEM is a private key as service accounts have it.
func keyPEM(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// A loud provider, which is a token server as well, repeats all that it was sent
// wherever it can: in texts, in errors, in headers and in pages.
type loud struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]string // by workspace: the request's line and headers
}

func newLoud(t *testing.T) *loud {
	l := &loud{seen: map[string]string{}}
	l.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if name, ok := strings.CutPrefix(r.URL.Path, "/token/"); ok {
			l.token(w, name, string(body))
			return
		}
		name := strings.Split(r.URL.Path, "/")[1]
		var all strings.Builder
		fmt.Fprintln(&all, r.URL.String())
		for _, key := range []string{"Authorization", "X-Canary", "X-Amz-Security-Token", "X-Amz-Date"} {
			fmt.Fprintf(&all, "%s: %s\n", key, r.Header.Get(key))
		}
		l.mu.Lock()
		l.seen[name] += all.String()
		l.mu.Unlock()
		said, err := json.Marshal(all.String())
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("x-request-id", strings.ReplaceAll(all.String(), "\n", " "))
		switch {
		case strings.Contains(string(body), `"says"`):
			w.Header().Set("content-type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", said)
		case strings.Contains(string(body), `"fails inside"`):
			w.Header().Set("content-type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"error\":{\"message\":%s}}\n\n", said)
		case strings.Contains(string(body), `"refuses"`):
			w.Header().Set("content-type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":%s,"code":"invalid_api_key"}}`, said)
		case strings.Contains(string(body), `"moves"`):
			http.Redirect(w, r, "/elsewhere?"+url.QueryEscape(all.String()), http.StatusTemporaryRedirect)
		default:
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprintf(w, "<html>%s</html>", all.String())
		}
	}))
	t.Cleanup(l.Close)
	return l
}

// token gives a token, or refuses loudly who is called "refused".
func (l *loud) token(w http.ResponseWriter, name, form string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[name] += form + "\n"
	w.Header().Set("content-type", "application/json")
	if name == "refused" {
		said, _ := json.Marshal(form) // a string cannot fail
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":"invalid_client","error_description":%s}`, said)
		return
	}
	fmt.Fprintf(w, `{"access_token":"canary-token-%s","token_type":"Bearer","expires_in":3600}`, name)
}

// TestAuthCanaries puts secrets of every scheme into workspaces, has a provider
// repeat what it is sent of them, and looks for them and for what is made of them in
// answers, errors, logs, traces, recordings, dumps, snapshots and the data directory.
func TestAuthCanaries(t *testing.T) {
	t.Parallel()
	l, traces := newLoud(t), newTraceCollector(t)
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "private_key_id": "canary-key-id", "client_email": "me@p.example",
		"private_key": keyPEM(t), "token_uri": l.URL + "/token/refused",
	})
	if err != nil {
		t.Fatal(err)
	}
	schemes := map[string]scheme{
		"header": {
			auth: map[string]any{"scheme": "header", "header": "X-Canary", "value": "Key ${a}, ${b}"}, secrets: map[string]string{"a": "canary-header-one", "b": "canary-header-two"},
			derived: `X-Canary: (Key canary-header-one, canary-header-two)`,
		},
		"query": {
			auth: map[string]any{"scheme": "query", "parameter": "key", "value": "${a}"}, secrets: map[string]string{"a": "canary-query +/&é"},
			derived: `[?&]key=([^&\n]+)`,
		},
		"basic": {
			auth: map[string]any{"scheme": "basic", "username": "${u}", "password": "${a}"}, plain: map[string]string{"u": "someone"}, secrets: map[string]string{"a": "canary-basic"},
			derived: `Authorization: Basic (\S+)`,
		},
		"sigv4": {
			auth:    map[string]any{"scheme": "awsSigV4", "service": "bedrock", "region": "us-east-1", "accessKeyId": "${i}", "secretAccessKey": "${a}", "sessionToken": "${s?}"},
			secrets: map[string]string{"i": "AKIACANARYKEYID", "a": "canary-aws-secret", "s": "canary-aws-session"},
			derived: `Signature=([0-9a-f]{64})`,
		},
		"account": {
			auth: map[string]any{"scheme": "gcpServiceAccount", "credentials": "${a}", "scopes": []string{"s"}}, secrets: map[string]string{"a": string(account)},
			derived: `Authorization: Bearer (canary-token-account)`,
		},
		"client": {
			auth:  map[string]any{"scheme": "oauth2ClientCredentials", "tokenUrl": l.URL + "/token/client", "clientId": "${u}", "clientSecret": "${a}", "scopes": []string{"s"}},
			plain: map[string]string{"u": "someone"}, secrets: map[string]string{"a": "canary-client-secret"},
			derived: `Authorization: Bearer (canary-token-client)`,
		},
		"refused": {
			auth:  map[string]any{"scheme": "oauth2ClientCredentials", "tokenUrl": l.URL + "/token/refused", "clientId": "${u}", "clientSecret": "${a}", "scopes": []string{"s"}},
			plain: map[string]string{"u": "someone"}, secrets: map[string]string{"a": "canary-refused-secret"},
			derived: `client_secret=([^&\n]+)`,
		},
	}
	module := house.Shipped(t, "vllm")
	out, recordings := t.TempDir(), filepath.Join(t.TempDir(), "recordings")
	var modules [][]byte
	for name, s := range schemes {
		options := map[string]any{}
		for o := range s.plain {
			options[o] = map[string]any{"type": "string"}
		}
		for o := range s.secrets {
			options[o] = map[string]any{"type": "string", "secret": true}
		}
		s.auth["name"] = name
		grants := []string{"${baseUrl}"}
		if s.auth["tokenUrl"] != nil {
			grants = append(grants, l.URL)
		}
		modules = append(modules, house.Packed(t, module, name, map[string]any{
			"abi": 2, "settings": map[string]any{"baseUrl": map[string]any{"required": true}}, "auth": []any{s.auth}, "options": options, "limits": map[string]any{"memoryMiB": 32}, "grants": map[string]any{"http": grants},
		}))
	}
	h := house.OpenWith(t, map[string]string{
		"chat-record-dir": recordings, "chat-record-workspaces": strings.Join([]string{"header", "query", "basic", "sigv4", "account", "client", "refused"}, ","),
		"otlp-endpoint": traces.url, "dump-dir": out, "snapshot-dir": out, "experimental-enable-metrics": "true",
	}, host.Options{Embedded: modules, Hooks: &testhook.Hooks{
		GoogleTokenURL: l.URL + "/token/account", Reach: upstream.Options{TLS: &tls.Config{RootCAs: l.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}},
	}})

	for name, s := range schemes {
		options := map[string]string{}
		for _, more := range []map[string]string{s.plain, s.secrets} {
			for o, v := range more {
				options[o] = v
			}
		}
		b, err := json.Marshal(map[string]any{"source": name, "baseUrl": l.URL + "/" + name, "options": options})
		if err != nil {
			t.Fatal(err)
		}
		h.Must("PATCH", "/chats/"+name+"/settings", string(b))
		for _, model := range []string{"says", "fails inside", "refuses", "moves", "breaks"} {
			_, _ = h.Ask(name, model)
		}
		_ = h.Call("POST", "/chats/"+name+"/test", `{"model":"refuses"}`)
		h.Must("GET", "/chats/"+name+"/settings", "")
		// A wrong value is told of without it.
		if r := h.Call("PATCH", "/chats/"+name+"/settings", `{"options": {"a": ["canary-wrong"]}}`); r.Status != http.StatusBadRequest {
			t.Errorf("%s: a secret that is no string: %d %s", name, r.Status, r.Body)
		}
	}
	for _, path := range []string{"/plugins", "/metrics", "/usage", "/chats", "/telemetry"} {
		_ = h.Call("GET", path, "")
	}
	archives := []string{makeArchive(h, "dump", out), makeArchive(h, "snapshot", out)}
	h.Close()

	// What must not be seen, and the proof that it was sent.
	var secrets []string
	add := func(name, s string) {
		quoted, _ := json.Marshal(s) // a string cannot fail
		for _, form := range []string{s, strings.Trim(string(quoted), `"`), url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s))} {
			if len(form) < 12 {
				t.Errorf("%s: %q is too short to be looked for", name, form)
			}
			if !slices.Contains(secrets, form) {
				secrets = append(secrets, form)
			}
		}
	}
	for name, s := range schemes {
		for _, v := range s.secrets {
			if name != "sigv4" || !strings.HasPrefix(v, "AKIA") { // which every request shows
				add(name, v)
			}
		}
		found := regexp.MustCompile(s.derived).FindAllStringSubmatch(l.seen[name], -1)
		if len(found) == 0 {
			t.Errorf("%s: nothing was sent that is like %s: %.600s", name, s.derived, l.seen[name])
		}
		for _, f := range found {
			add(name, f[1])
		}
	}
	secrets = append(secrets, strings.Split(strings.Split(keyOf(t, account), "-----\n")[1], "\n")[3]) // a line within the key

	look := func(where, text string) {
		t.Helper()
		for _, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("%s holds %.60q: …%s…", where, s, house.Around(text, s))
			}
		}
	}
	saw := h.Saw()
	if strings.Count(saw, "[redacted]") < len(schemes) || !strings.Contains(saw, "invalid_client") && !strings.Contains(saw, "llm_provider_unauthorized") {
		t.Errorf("the provider's repetitions did not reach the answers: %.2000s", saw)
	}
	look("an answer", saw)
	look("the log", h.Log.String())
	if len(traces.spans) == 0 {
		t.Error("nothing was traced")
	}
	look("a trace", traces.raw.String())
	files := 0
	for _, dir := range []string{recordings, h.Dir} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(name)
			files++
			look(name, string(b))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if folders, err := os.ReadDir(recordings); err != nil || len(folders) < 2*len(schemes)-2 || files < 10 {
		t.Errorf("%d recordings, %v, of %d files", len(folders), err, files)
	}
	h.Values(func(key, value []byte) { look("the database, under "+string(key), string(value)) })
	for _, name := range archives {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		if err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		look(name, string(b))
		z.Close()
		f.Close()
	}
}

// keyOf is the private key in a service account's file.
func keyOf(t *testing.T, account []byte) string {
	t.Helper()
	var a struct {
		Key string `json:"private_key"`
	}
	if err := json.Unmarshal(account, &a); err != nil {
		t.Fatal(err)
	}
	return a.Key
}
