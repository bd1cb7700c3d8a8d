package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// A visit is what a browser, or another client, says of a request. header has
// pairs.
type visit struct {
	name, method, path, body string
	host                     string // default: the rig's address
	header                   []string
	status                   int
	code                     string // of the error
	allow                    string // the origin that may read the answer
	says                     string // of the message
}

func (v *visit) play(t *testing.T, r *rig) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), v.method, r.url+v.path, strings.NewReader(v.body))
	check(t, err)
	req.Host = v.host
	for i := 0; i+1 < len(v.header); i += 2 {
		req.Header.Set(v.header[i], v.header[i+1])
	}
	res, err := r.client.Do(req)
	check(t, err)
	body, err := io.ReadAll(res.Body)
	check(t, err)
	check(t, res.Body.Close())
	if res.StatusCode != v.status || v.code != "" && !strings.Contains(string(body), `"code":"`+v.code+`"`) || !strings.Contains(string(body), v.says) {
		t.Errorf("%s: answer = %d %s, want %d %s %s", v.name, res.StatusCode, body, v.status, v.code, v.says)
	}
	for name, values := range res.Header {
		if strings.HasPrefix(name, "Access-Control-") && v.allow == "" {
			t.Errorf("%s: %s = %q, want none", v.name, name, values)
		}
	}
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != v.allow {
		t.Errorf("%s: Access-Control-Allow-Origin = %q, want %q", v.name, got, v.allow)
	}
	if v.allow != "" && v.allow != "*" && !strings.Contains(res.Header.Get("Vary"), "Origin") {
		t.Errorf("%s: Vary = %q, want Origin in it", v.name, res.Header.Get("Vary"))
	}
}

// TestHostilePage is a page of another origin against a host without a master
// key: nothing that a browser sends for it is read or done.
func TestHostilePage(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{open: true})
	json := []string{"Content-Type", "application/json"}
	(&visit{name: "the owner", method: "POST", path: "/indexes", body: `{"uid":"mine"}`, header: json, status: 202}).play(t, r)
	_, err := r.queue.Wait(t.Context(), 0)
	check(t, err)
	const evil = "https://evil.example"
	const origin, host = "forbidden_origin", "forbidden_host"
	port := r.url[strings.LastIndex(r.url, ":"):]
	page := func(more ...string) []string {
		return append([]string{"Origin", evil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, more...)
	}
	plain := func(mode, dest string) []string {
		return []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", mode, "Sec-Fetch-Dest", dest}
	}
	for i, v := range []visit{
		{name: "read by fetch", method: "GET", path: "/indexes", header: page(), code: origin, says: "--allowed-origins"},
		{name: "read by an image", method: "GET", path: "/indexes", header: plain("no-cors", "image"), code: origin, says: "--allowed-origins"},
		{name: "read by a script", method: "GET", path: "/indexes/mine/search?q=a", header: plain("no-cors", "script"), code: origin},
		{name: "read in a frame", method: "GET", path: "/indexes", header: plain("navigate", "iframe"), code: origin},
		{name: "read in a window", method: "GET", path: "/indexes", header: plain("navigate", "document"), code: origin},
		{name: "make by a simple post", method: "POST", path: "/indexes", body: `{"uid":"theirs"}`, header: page("Content-Type", "text/plain"), code: origin},
		{name: "make without preflight", method: "POST", path: "/indexes", body: `{"uid":"theirs"}`, header: page(json...), code: origin},
		{name: "snapshot", method: "POST", path: "/snapshots", header: page(), code: origin},
		{name: "snapshot by a form", method: "POST", path: "/snapshots", header: []string{"Origin", evil, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, code: origin},
		{name: "delete", method: "DELETE", path: "/indexes/mine", header: page(), code: origin},
		{name: "preflight", method: "OPTIONS", path: "/indexes", header: page("Access-Control-Request-Method", "DELETE", "Access-Control-Request-Headers", "content-type"), code: origin},
		{name: "preflight of a probe", method: "OPTIONS", path: "/health", header: page("Access-Control-Request-Method", "GET"), code: origin},
		{name: "sandboxed frame", method: "POST", path: "/snapshots", header: []string{"Origin", "null"}, code: origin},
		{name: "origin that begins like ours", method: "DELETE", path: "/indexes/mine", header: []string{"Origin", "http://localhost.evil.example"}, code: origin},
		{name: "rebound name", method: "GET", path: "/indexes", host: "evil.example" + port, code: host, says: "--allowed-hosts"},
		{name: "rebound name, its own origin", method: "DELETE", path: "/indexes/mine", host: "127.0.0.1.evil.example" + port, header: []string{"Origin", "http://127.0.0.1.evil.example" + port}, code: host},
		{name: "rebound preflight", method: "OPTIONS", path: "/indexes", host: "evil.example" + port, header: []string{"Origin", "http://evil.example" + port}, code: host},
	} {
		v.status, v.name = http.StatusForbidden, fmt.Sprintf("%d, %s", i+1, v.name)
		v.play(t, r)
	}
	got := r.do("GET", "/indexes", "")
	if !strings.Contains(got.body, `"mine"`) || strings.Contains(got.body, "theirs") {
		t.Errorf("indexes = %s, want the owner's alone", got.body)
	}
	if got := r.do("GET", "/tasks", ""); !strings.Contains(got.body, `"total":1,`) {
		t.Errorf("tasks = %s, want the owner's alone", got.body)
	}
}

// TestKeylessHost is who may ask a host without a master key.
//
//parley:option allowed-hosts allowed-origins
func TestKeylessHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{open: true})
	listed := newRig(t, wish{open: true, site: httpapi.Site{Hosts: []string{"parley.example"}, Origins: []string{"https://app.example"}}})
	public := newRig(t, wish{publicURL: "https://Ask.example:8443/parley", site: httpapi.Site{Hosts: []string{"parley.example"}}})
	port := r.url[strings.LastIndex(r.url, ":"):]
	for _, tt := range []struct {
		rig *rig
		visit
	}{
		{r, visit{name: "curl"}},
		{r, visit{name: "name", host: "localhost" + port}},
		{r, visit{name: "name with a dot", host: "LocalHost." + port}},
		{r, visit{name: "name below localhost", host: "parley.localhost" + port}},
		{r, visit{name: "address", host: "127.8.8.8"}},
		{r, visit{name: "address of IPv6", host: "[::1]" + port}},
		{r, visit{name: "name without a dot", host: "parley", status: 403, code: "forbidden_host"}},
		{r, visit{name: "address of a network", host: "192.168.1.2" + port, status: 403, code: "forbidden_host"}},
		{r, visit{name: "name of a network", host: "parley.local" + port, status: 403, code: "forbidden_host"}},
		{r, visit{name: "origin in development", header: []string{"Origin", "http://localhost:5173", "Sec-Fetch-Site", "cross-site"}, allow: "http://localhost:5173"}},
		{r, visit{name: "origin, address", header: []string{"Origin", "https://127.0.0.1:8443"}, allow: "https://127.0.0.1:8443"}},
		{r, visit{name: "origin, IPv6", header: []string{"Origin", "http://[::1]:3000"}, allow: "http://[::1]:3000"}},
		{r, visit{name: "origin of no http", header: []string{"Origin", "file://localhost"}, status: 403, code: "forbidden_origin"}},
		{r, visit{name: "error", path: "/nope", header: []string{"Origin", "http://localhost"}, allow: "http://localhost", status: 404}},
		{r, visit{name: "preflight", method: "OPTIONS", header: []string{"Origin", "http://localhost:3000"}, allow: "http://localhost:3000", status: 204}},
		{r, visit{name: "typed in", header: []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}}},
		{r, visit{name: "link to a page", path: "/", header: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, status: 404, code: "not_found"}},
		{r, visit{name: "probe", path: "/health", host: "evil.example", header: []string{"Origin", "https://evil.example"}}},
		{r, visit{name: "probe of readiness", path: "/ready", host: "evil.example"}},

		{listed, visit{name: "listed host", host: "Parley.example" + port}},
		{public, visit{name: "name of the public URL", path: "/openapi.json", host: "ask.example", allow: "*"}},
		{public, visit{name: "listed beside it", path: "/openapi.json", host: "parley.example", allow: "*"}},
		{public, visit{name: "another name", path: "/openapi.json", host: "other.example", status: 403, code: "forbidden_host"}},
		{listed, visit{name: "host below a listed one", host: "a.parley.example", status: 403, code: "forbidden_host"}},
		{listed, visit{name: "listed origin", header: []string{"Origin", "https://app.example"}, allow: "https://app.example"}},
		{listed, visit{name: "listed origin, other port", header: []string{"Origin", "https://app.example:8443"}, status: 403, code: "forbidden_origin"}},
		{listed, visit{name: "this machine's origin, not listed", header: []string{"Origin", "http://localhost:5173"}, status: 403, code: "forbidden_origin"}},
		{listed, visit{name: "its own origin", host: "parley.example" + port, header: []string{"Origin", "http://parley.example" + port}, allow: "http://parley.example" + port}},
	} {
		if tt.method == "" {
			tt.method = "GET"
		}
		if tt.path == "" {
			tt.path = "/indexes"
		}
		if tt.status == 0 {
			tt.status = http.StatusOK
		}
		tt.play(t, tt.rig)
	}
}

// TestKeyedHost is a host with a master key: the key is the guard, and the rules
// of hosts without one hold where the operator wants them or no key is sent.
func TestKeyedHost(t *testing.T) {
	r := newRig(t, wish{})
	listed := newRig(t, wish{site: httpapi.Site{Origins: []string{"https://app.example"}}})
	key := []string{"Authorization", "Bearer " + master}
	for _, tt := range []struct {
		rig *rig
		visit
	}{
		{r, visit{name: "any origin", method: "GET", header: append([]string{"Origin", "https://a.example", "Sec-Fetch-Site", "cross-site"}, key...), status: 200, allow: "*"}},
		{r, visit{name: "proxy on this machine", method: "GET", host: "search.example", header: key, status: 200, allow: "*"}},
		{r, visit{name: "preflight through it", method: "OPTIONS", host: "search.example", header: []string{"Origin", "https://a.example"}, status: 204, allow: "*"}},
		{r, visit{name: "no key", method: "GET", status: 401, allow: "*"}},
		{r, visit{name: "no key, rebound name", method: "GET", host: "evil.example", status: 403, code: "forbidden_host"}},
		{listed, visit{name: "listed origin", method: "GET", header: append([]string{"Origin", "https://app.example"}, key...), status: 200, allow: "https://app.example"}},
		{listed, visit{name: "other origin", method: "GET", header: append([]string{"Origin", "https://a.example"}, key...), status: 403, code: "forbidden_origin"}},
		{listed, visit{name: "preflight of another origin", method: "OPTIONS", header: []string{"Origin", "https://a.example"}, status: 403, code: "forbidden_origin"}},
		{listed, visit{name: "no browser", method: "GET", header: key, status: 200}},
	} {
		tt.path = "/indexes"
		tt.play(t, tt.rig)
	}
}
