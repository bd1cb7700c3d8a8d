package telemetry

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// seenAnswers are what a host answers of two windows and the one under way, with
// texts that would do harm where they were taken for markup.
var seenAnswers = map[string]string{
	"/telemetry": `{"on":true,"instanceUid":"u-1","sentTo":"https://p.example/v1/batch","engine":{"window":3,"collectors":[{"name":"a","version":"1.0.0","outbound":true}]}}`,
	"/telemetry/metrics": `{"results":[
		{"path":"a.n","kind":"int","meaning":"Things <script>alert(1)</script> & others.","collector":"a"},
		{"path":"a.on","kind":"bool","meaning":"A switch.","collector":"a"},
		{"path":"a.took","kind":"string","format":"millis","meaning":"How long.","collector":"a"},
		{"path":"a.agents","kind":"array<string>","meaning":"Clients.","collector":"a"},
		{"path":"a.same","kind":"int","meaning":"As ever.","collector":"a"},
		{"path":"a.by","kind":"int","meaning":"By source.","collector":"a","by":{"label":"source","vocabulary":"source"}},
		{"path":"a.never","kind":"int","meaning":"Never.","collector":"a"}]}`,
	"/telemetry/messages?of=next":    `{"results":[{"collector":"a","version":"1.0.0","window":3,"outbound":true,"body":"{\"properties\":{\"a\":{\"n\":4,\"on\":true,\"same\":12345}}}"}]}`,
	"/telemetry/messages?of=pending": `{"results":[]}`,
	"/telemetry/windows?limit=24": `{"results":[
		{"window":2,"sealed":"2026-11-21T08:00:00Z","messages":[{"collector":"a","version":"1.0.0","window":2,"outbound":true,"body":"{\"properties\":{\"a\":{\"n\":8,\"by\":{\"openAi\":5},\"on\":false,\"took\":\"57ms\",\"same\":12345,\"before\":1,\"agents\":[\"curl/8\",\"\\\"><b>\"]}}}"}]},
		{"window":1,"sealed":"2026-11-21T07:00:00Z","messages":[{"collector":"a","version":"1.0.0","window":1,"outbound":true,"body":"{\"properties\":{\"a\":{\"n\":0,\"on\":true,\"took\":\"8ms\",\"agents\":[\"curl/8\"]}}}"},
			{"collector":"gone","version":"1.0.0","window":1,"outbound":false,"body":"{\"properties\":{\"left\":{\"over\":7}}}"}]}]}`,
	"/telemetry/deliveries": `{"results":[{"at":"2026-11-21T08:00:01Z","to":"https://p.example/v1/batch","outcome":"HTTP 200 OK","bytes":77,"messages":[{"id":"id-1","collector":"a","window":1}]}]}`,
}

func askSeen(path string, into any) error { return json.Unmarshal([]byte(seenAnswers[path]), into) }

// view asks v for its page.
func view(v *viewer, method, host, path string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	v.ServeHTTP(w, r)
	return w.Result()
}

func TestTelemetryView(t *testing.T) {
	v := &viewer{ask: askSeen, host: "127.0.0.1:1", secret: "s"}
	resp := view(v, "GET", "127.0.0.1:1", "/s/")
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the page: %s, %v\n%s", resp.Status, err, b)
	}
	page := string(b)
	for _, want := range []string{
		`<h4>a.by.openAi</h4><span class="quiet">By source.</span>`,
		"Things &lt;script&gt;alert(1)&lt;/script&gt; &amp; others.", "The last 2 windows, and the one under way", "<dd>u-1</dd>", "instance UID",
		"Nothing was said of 1 of its metrics", "Window 2, sealed at 2026-11-21T08:00:00Z", "<td>window 1: a</td>",
		// A number is bars, the one under way another; a 0 is seen.
		`aria-label="a.n over 3 windows, 8 at most; the table below has the values"`, "<strong>4 now</strong>",
		`y="2" width="8" height="54"><title>window 2, until 21 Nov 08:00: 8</title>`, `class="now" x="111" y="29" width="8" height="27"><title>now: 4</title>`, `height="1"><title>window 1, until 21 Nov 07:00: 0</title>`,
		`<tr><th scope="row">3</th><td class="when">under way</td><td>4</td></tr>`, `<tr><th scope="row">2</th><td class="when">21 Nov 08:00</td><td>8</td></tr>`,
		`aria-label="a.took over 3 windows, 57ms at most;`, "<strong>57ms, until 21 Nov 08:00</strong>",
		// A switch is one strip, texts are one each.
		`aria-label="a.on: yes in 2 of 3 windows"`, `class="no" x="101" y="1" width="8" height="10"><title>window 2, until 21 Nov 08:00: no</title>`,
		`aria-label="a.agents: curl/8 in 2 of 3 windows"`, `aria-label="a.agents: &#34;&gt;&lt;b&gt; in 1 of 3 windows"`,
		// What did not change is a line of a table, and so is what nobody explains any more.
		`<h4>a.same</h4><span class="quiet">As ever.</span></th><td class="figure">12,345</td><td class="when">2 of 3</td>`,
		`<h4>a.before</h4><span class="quiet">No collector that runs says what this means.</span>`,
		`<h3 id="collector-gone">gone <span class="tag">does not run any more</span>`, `<h4>left.over</h4>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(page, "<b>") || strings.Contains(page, "<script") || strings.Contains(page, "a.never") {
		t.Error("a text of the host became markup, or a metric without values is shown")
	}
	policy := resp.Header.Get("Content-Security-Policy")
	nonce := regexp.MustCompile(`<style nonce="([^"]+)">`).FindStringSubmatch(page)
	if nonce == nil || !strings.HasPrefix(policy, "default-src 'none'; style-src 'nonce-"+nonce[1]+"';") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("the policy is %q, and the style's nonce %q", policy, nonce)
	}
	checkPage(t, page)

	for name, resp := range map[string]*http.Response{
		"no secret":    view(v, "GET", "127.0.0.1:1", "/"),
		"wrong secret": view(v, "GET", "127.0.0.1:1", "/t/"),
		"another host": view(v, "GET", "rebound.example:1", "/s/"),
	} {
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s, want 404", name, resp.Status)
		}
	}
	if resp := view(v, "POST", "127.0.0.1:1", "/s/"); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s, want 405", resp.Status)
	}
	v.ask = func(string, any) error { return errors.New("the host is gone") }
	if resp := view(v, "GET", "127.0.0.1:1", "/s/"); resp.StatusCode != http.StatusBadGateway {
		t.Errorf("without a host: %s, want 502", resp.Status)
	}
}

// checkPage wants page to be well formed, to lead nowhere, and to name what it
// draws.
func checkPage(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	ids, charts := []string{}, 0
	var links []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if slices.Contains([]string{"script", "img", "link", "iframe", "object", "embed", "form"}, e.Name.Local) {
			t.Errorf("the page has an element %s", e.Name.Local)
		}
		named := false
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "id":
				if slices.Contains(ids, a.Value) {
					t.Errorf("two elements have the id %s", a.Value)
				}
				ids = append(ids, a.Value)
			case "href", "src":
				links = append(links, a.Value)
			case "aria-label":
				named = a.Value != ""
			}
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
				t.Errorf("element %s has an attribute %s, which the policy forbids", e.Name.Local, a.Name.Local)
			}
		}
		if e.Name.Local == "svg" {
			if charts++; !named {
				t.Error("a chart has no name")
			}
		}
	}
	for _, l := range links {
		if id, ok := strings.CutPrefix(l, "#"); !ok || !slices.Contains(ids, id) {
			t.Errorf("the page leads to %q", l)
		}
	}
	if charts != 5 || len(links) == 0 {
		t.Errorf("%d charts and %d links, want 5 charts and some", charts, len(links))
	}
}
