package search_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/settings"
)

const headerSecret = "hd-embedder-0123456789-secret"

// headers opens the headers of an embedder of the index a.
func (r *rig) headers(e *settings.Embedder) string {
	r.tb.Helper()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		text, err := e.Headers[name].Open(r.sealer)
		if err != nil {
			r.tb.Fatal(err)
		}
		all = append(all, name+": "+text.Reveal())
	}
	return strings.Join(all, "; ")
}

// TestEmbedderHeaders follows secrets in headers through what may happen to the
// settings.
func TestEmbedderHeaders(t *testing.T) {
	r := newRig(t)
	r.settings("a", restPatch)
	for _, s := range []struct{ name, patch, shown, want string }{
		{"set", `{"headers":{"X-A":"` + headerSecret + `","X-B":"short"}}`, `{"X-A":"hd-XXXXX...","X-B":"XXX..."}`, "X-A: " + headerSecret + "; X-B: short"},
		{"kept", `{"dimensions":5}`, `{"X-A":"hd-XXXXX...","X-B":"XXX..."}`, "X-A: " + headerSecret + "; X-B: short"},
		{"sent back as shown, beside a new one", `{"headers":{"X-A":"hd-XXXXX...","X-C":"12345678901"}}`, `{"X-A":"hd-XXXXX...","X-C":"12XXXX..."}`, "X-A: " + headerSecret + "; X-C: 12345678901"},
		{"places of the key", `{"headers":{"X-A":"hd-XXXXX...","Api-Key":"${apiKey}","Authorization":"Bearer ${apiKey}","X-E":""}}`, `{"Api-Key":"${apiKey}","Authorization":"Bearer ${apiKey}","X-A":"hd-XXXXX...","X-E":""}`, "Api-Key: ${apiKey}; Authorization: Bearer ${apiKey}; X-A: " + headerSecret + "; X-E: "},
		{"a secret beside the place of the key", `{"headers":{"X-A":"hd-XXXXX...","X-U":"name ${apiKey}"}}`, `{"X-A":"hd-XXXXX...","X-U":"naXXXX..."}`, "X-A: " + headerSecret + "; X-U: name ${apiKey}"},
		{"not for another host, even as shown", `{"url":"https://api.example.org/v1","headers":{"X-A":"hd-XXXXX...","X-N":"new","Api-Key":"${apiKey}"}}`, `{"Api-Key":"${apiKey}","X-N":"XXX..."}`, "Api-Key: ${apiKey}; X-N: new"},
		{"nor when they are not named", `{"url":"https://api.example.net/v1"}`, `{"Api-Key":"${apiKey}"}`, "Api-Key: ${apiKey}"},
		{"null", `{"headers":null}`, `{}`, ""},
	} {
		r.settings("a", `{"embedders":{"e":`+s.patch+`}}`)
		if got := r.setting("a", "embedders"); !strings.Contains(got, `"headers":`+s.shown+`,"request"`) {
			t.Errorf("%s: shown %s, want headers %s", s.name, got, s.shown)
		}
		e := mustSettings(t, r, "a").Embedders["e"]
		if got := r.headers(&e); got != s.want {
			t.Errorf("%s: headers %q, want %q", s.name, got, s.want)
		}
	}
	for _, uid := range []string{"a", "new"} {
		_, err := r.svc.UpdateSettings(uid, []byte(`{"embedders":{"e":{"headers":{"X-A":"hd-XXXXX..."}}}}`))
		wantCode(t, "a header as another index shows it", err, indexerr.InvalidSettingsEmbedders)
		if want := "`embedders.e.headers.X-A` is a value as it is shown"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("a header as another index shows it: %v, want %s", err, want)
		}
	}
}

// TestEmbedderHeadersSealed looks for a secret in what is kept, shown and
// exported, and wants it at the embedder alone.
func TestEmbedderHeadersSealed(t *testing.T) {
	r := newRig(t)
	sent := make(chan string, 10)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		sent <- q.Header.Get("X-A")
		fmt.Fprint(w, `{"data":[{"embedding":[1,0]}]}`)
	}))
	defer api.Close()
	e := &embedderAPI{url: api.URL}
	part := e.part(`,"headers":{"X-A":"` + headerSecret + `"}`)
	n, err := r.svc.UpdateSettings("a", []byte(`{"embedders":{"one":`+part+`,"two":{"source":"composite","searchEmbedder":`+part+`,"indexingEmbedder":`+part+`}}}`))
	done := r.ok(n, err)
	list, err := r.svc.ExportIndexes()
	if err != nil {
		t.Fatal(err)
	}
	metas, err := r.store.Metas()
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{
		"details": done.Details, "payload": n.Payload, "settings": []byte(r.setting("a", "embedders")), "record": metas["a"], "export": list[0].Settings,
	} {
		if bytes.Contains(b, []byte(headerSecret)) {
			t.Errorf("the secret is in the %s: %s", what, b)
		}
	}
	if got := bytes.Count(done.Details, []byte(`"headers":{"X-A":"hd-XXXXX..."}`)); got != 3 {
		t.Errorf("details %s, want three headers in their short form", done.Details)
	}
	if got, want := strings.Join(list[0].Keyless, " "), "one.headers.X-A two.searchEmbedder.headers.X-A two.indexingEmbedder.headers.X-A"; got != want || bytes.Contains(list[0].Settings, []byte("XXX...")) {
		t.Errorf("an export has %s, and names %q; want %q", list[0].Settings, got, want)
	}
	r.reopen()
	r.settings("a", `{"embedders":`+r.setting("a", "embedders")+`}`)
	r.add("a", `[{"id":1,"text":"sea"}]`)
	for range 2 {
		if got := <-sent; got != headerSecret {
			t.Errorf("the embedder was sent %q, want the secret", got)
		}
	}
}

// TestEmbedderHeadersOfBefore seals what a record of an earlier build has in the
// clear, at the first start.
func TestEmbedderHeadersOfBefore(t *testing.T) {
	r := newRig(t)
	r.settings("a", restPatch)
	metas, err := r.store.Metas()
	if err != nil {
		t.Fatal(err)
	}
	record := bytes.Replace(metas["a"], []byte(`"headers":null`), []byte(`"headers":{"X-A":"`+headerSecret+`","X-K":"${apiKey}"}`), 1)
	if err := r.store.PutMeta("a", record); err != nil {
		t.Fatal(err)
	}
	r.reopen()
	if metas, err = r.store.Metas(); err != nil || bytes.Contains(metas["a"], []byte(headerSecret)) || bytes.Equal(record, metas["a"]) {
		t.Errorf("the record is %s, %v; want the header sealed", metas["a"], err)
	}
	r.reopen()
	e := mustSettings(t, r, "a").Embedders["e"]
	if got, want := r.headers(&e), "X-A: "+headerSecret+"; X-K: ${apiKey}"; got != want {
		t.Errorf("headers %q, want %q", got, want)
	}
}
