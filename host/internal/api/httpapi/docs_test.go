package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// TestDocs reads the page that describes the API.
//
//parley:option docs-page
func TestDocs(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	a := r.do("GET", "/docs", "", "Authorization", "")
	policy := a.header.Get("Content-Security-Policy")
	if a.status != 200 || a.header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") {
		t.Fatalf("GET /docs = %d %v", a.status, a.header)
	}
	for _, row := range httpapi.Table(r.server) {
		if row.ID != "" && !strings.Contains(a.body, `id="`+row.ID+`"`) {
			t.Errorf("the page lacks the operation %s", row.ID)
		}
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(a.body, -1) {
		id, inside := strings.CutPrefix(m[1], "#")
		switch {
		case inside && !strings.Contains(a.body, `id="`+id+`"`):
			t.Errorf("the page links to #%s, which it does not have", id)
		case !inside && m[1] != "data:,":
			if b := r.do("GET", m[1], "", "Authorization", ""); b.status != 200 {
				t.Errorf("the page links to %s, which is %d", m[1], b.status)
			}
		}
	}
	if regexp.MustCompile(`<script|style="|src="|<link[^>]*href="http`).MatchString(a.body) {
		t.Error("the page has a script, a style of an element or something from elsewhere")
	}
	if b := r.do("GET", "/docs", "", "If-None-Match", a.header.Get("ETag")); b.status != 304 {
		t.Errorf("GET /docs again = %d, want 304", b.status)
	}
	packed := r.do("GET", "/docs", "", "Accept-Encoding", "gzip")
	unpack, err := gzip.NewReader(bytes.NewReader([]byte(packed.body)))
	check(t, err)
	text, err := io.ReadAll(unpack)
	check(t, err)
	if string(text) != a.body || len(packed.body) > 70_000 {
		t.Errorf("packed it has %d bytes, of %d", len(packed.body), len(a.body))
	}
	r.play(t, []scenario{
		{name: "no such file", method: "GET", path: "/docs/more.css", status: 404, code: "not_found"},
		{name: "a link of another site", method: "GET", path: "/docs", header: []string{"Authorization", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, status: 200},
	})
	none := newRig(t, wish{noDocs: true})
	none.play(t, []scenario{
		{name: "switched off", method: "GET", path: "/docs", status: 404, code: "not_found"},
		{name: "the description stays", method: "GET", path: "/openapi.json", status: 200},
	})
}
