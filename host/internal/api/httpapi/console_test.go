package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/console"
)

// TestConsole wants a browser to be led to the page, its files to come with the policy that lets nothing
// else run, and both to be absent where the page is off.
//
//parley:option console
func TestConsole(t *testing.T) {
	t.Parallel()
	get := func(r *rig, path string, headers ...string) *http.Response {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, r.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	on, off := newRig(t, wish{console: true}), newRig(t, wish{})
	if resp := get(on, "/", "Accept", "text/html,*/*"); resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != "/console/" {
		t.Errorf("/ for a browser: status %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	for _, name := range []string{"/", "/console/nothing.js", "/console/../host.go"} {
		if resp := get(on, name); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", name, resp.StatusCode)
		}
	}
	for _, name := range []string{"", "index.html", "app.js", "style.css"} {
		resp := get(on, "/console/"+name)
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Security-Policy") != console.Policy || resp.Header.Get("X-Content-Type-Options") != "nosniff" ||
			resp.Header.Get("Referrer-Policy") != "no-referrer" || resp.Header.Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("/console/%s: status %d, headers %v", name, resp.StatusCode, resp.Header)
		}
		if resp := get(on, "/console/"+name, "If-None-Match", resp.Header.Get("ETag")); resp.StatusCode != http.StatusNotModified {
			t.Errorf("/console/%s again: status %d, want 304", name, resp.StatusCode)
		}
		if a := off.do(http.MethodGet, "/console/"+name, ""); a.status != http.StatusNotFound || !strings.Contains(a.body, "--console=on") {
			t.Errorf("/console/%s of a host without the page: status %d, %s; want 404 and how to switch it on", name, a.status, a.body)
		}
	}
	if !strings.Contains(console.Policy, "require-trusted-types-for 'script'") {
		t.Errorf("the policy is %q", console.Policy)
	}
}
