package search_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/task"
)

const (
	embedderKey = "sk-embedder-0123456789-secret"
	restPatch   = `{"embedders":{"e":{"source":"rest","url":"https://api.example.com/v1/embeddings","apiKey":"` + embedderKey + `",` +
		`"request":{"model":"m","input":["{{text}}","{{..}}"]},"response":{"data":[{"embedding":"{{embedding}}"},"{{..}}"]}}}}`
)

// key opens the key of the embedder e.
func (r *rig) key() string {
	r.tb.Helper()
	ix, err := r.svc.Settings(auth.Everyone(), "a")
	if err != nil {
		r.tb.Fatal(err)
	}
	k, err := ix.Embedders["e"].Key.Open(r.sealer)
	if err != nil {
		r.tb.Fatal(err)
	}
	return k.Reveal()
}

func TestEmbedderSettings(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"embedders":{"own":{"source":"userProvided","dimensions":3}}}`)
	if got, want := r.setting("a", "embedders"), `{"own":{"dimensions":3,"source":"userProvided"}}`; got != want {
		t.Errorf("embedders %s, want %s", got, want)
	}
	r.settings("a", restPatch)
	rest := `{"e":{"apiKey":"sk-XXXXX...","dimensions":null,"documentTemplate":null,"documentTemplateMaxBytes":400,` +
		`"headers":{},"request":{"model":"m","input":["{{text}}","{{..}}"]},"response":{"data":[{"embedding":"{{embedding}}"},"{{..}}"]},` +
		`"source":"rest","url":"https://api.example.com/v1/embeddings"},"own":`
	if got := r.setting("a", "embedders"); !strings.HasPrefix(got, rest) {
		t.Errorf("embedders %s, want %s…", got, rest)
	}
	r.settings("a", `{"embedders":{"own":null,"e":{"distribution":{"mean":0.7,"sigma":0.3},"headers":{"X-A":"b"}}}}`)
	if got := r.setting("a", "embedders"); !strings.Contains(got, `"distribution":{"mean":0.7,"sigma":0.3}`) || strings.Contains(got, "own") || !strings.Contains(got, `"headers":{"X-A":"XXX..."}`) {
		t.Errorf("after a patch embedders are %s", got)
	}
	r.settings("a", `{"embedders":null}`)
	if got := r.setting("a", "embedders"); got != "{}" {
		t.Errorf("after a reset embedders are %s", got)
	}
}

func TestEmbedderSettingsRefusedLater(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct{ embedder, says string }{
		{`{}`, "`embedders.e.source` is missing"},
		{`{"source":"userProvided"}`, "`embedders.e.dimensions` is missing"},
		{`{"source":"userProvided","dimensions":2,"url":"http://x/"}`, "`embedders.e.url` is not for the source"},
		{`{"source":"userProvided","dimensions":2,"apiKey":"sk-1"}`, "`embedders.e.apiKey` is not for the source"},
		{`{"source":"rest"}`, "`embedders.e.url` is missing"},
		{`{"source":"rest","url":"http://x/"}`, "`embedders.e.request` is missing"},
		{`{"source":"rest","url":"http://x/","request":"{{text}}"}`, "`embedders.e.response` is missing"},
	} {
		got := r.run(r.svc.UpdateSettings("a", []byte(`{"embedders":{"e":`+tt.embedder+`}}`)))
		if got.Status != task.Failed || got.Error.Code != indexerr.InvalidSettingsEmbedders.String() || !strings.Contains(got.Error.Message, tt.says) {
			t.Errorf("%s: task %s, %+v; want it failed and to say %s", tt.embedder, got.Status, got.Error, tt.says)
		}
	}
}

// TestEmbedderKey follows a key through what may happen to the settings.
func TestEmbedderKey(t *testing.T) {
	r := newRig(t)
	r.settings("a", restPatch)
	steps := []struct{ name, patch, want string }{
		{"kept", `{"dimensions":5}`, embedderKey},
		{"kept for another path", `{"url":"https://api.example.com/v2"}`, embedderKey},
		{"sent back as shown", `{"apiKey":"` + shown(t, r) + `"}`, embedderKey},
		{"not for another host", `{"url":"https://api.example.org/v1"}`, ""},
		{"new", `{"apiKey":"another-key-0123456789"}`, "another-key-0123456789"},
		{"new with a new host", `{"apiKey":"third-key-0123456789","url":"http://127.0.0.1:1/"}`, "third-key-0123456789"},
		{"empty", `{"apiKey":""}`, ""},
		{"new again", `{"apiKey":"k"}`, "k"},
		{"null", `{"apiKey":null}`, ""},
	}
	for _, s := range steps {
		r.settings("a", `{"embedders":{"e":`+s.patch+`}}`)
		if got := r.key(); got != s.want {
			t.Errorf("%s: after %s the key is %q, want %q", s.name, s.patch, got, s.want)
		}
	}
}

func shown(t *testing.T, r *rig) string {
	t.Helper()
	var all map[string]struct{ APIKey string }
	if err := json.Unmarshal([]byte(r.setting("a", "embedders")), &all); err != nil || all["e"].APIKey == "" {
		t.Fatalf("key as shown: %v, %v", all, err)
	}
	return all["e"].APIKey
}

// TestEmbedderKeyAtRest looks for a key in everything that is written and
// shown.
func TestEmbedderKeyAtRest(t *testing.T) {
	r := newRig(t)
	n, err := r.svc.UpdateSettings("a", []byte(restPatch))
	done := r.ok(n, err)
	settings, err := json.Marshal(mustSettings(t, r, "a"))
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{"details": done.Details, "payload": n.Payload, "settings": settings} {
		if bytes.Contains(b, []byte(embedderKey)) {
			t.Errorf("the key is in the %s: %s", what, b)
		}
	}
	if !strings.Contains(string(done.Details), `"apiKey":"sk-XXXXX..."`) {
		t.Errorf("details %s, want the key in its short form", done.Details)
	}
	r.reopen()
	if got := r.key(); got != embedderKey {
		t.Errorf("after a restart the key is %q, want %q", got, embedderKey)
	}
	r.close()
	err = filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(b, []byte(embedderKey)) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
