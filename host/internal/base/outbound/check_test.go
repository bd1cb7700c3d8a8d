package outbound

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// apiKey is a key that must never be seen but by the provider.
const apiKey = "sk-4f9a0c/71+d2<e8>b6"

// granted is an outbound to a public API with a key.
func granted() *Request {
	return &Request{
		Encoded: &abi.EncodeResponse{
			URL:     "https://api.example.com/v1/chat/completions",
			Headers: map[string]string{"authorization": "Bearer ${apiKey}"},
			Body:    abi.RawJSON(`{"model":"m"}`),
		},
		Grants:  abi.Grants{HTTP: []string{"https://api.example.com"}, Secrets: []string{"apiKey"}},
		Secrets: map[string]string{"apiKey": apiKey, "orgId": "org-not-granted"},
	}
}

func TestSetBody(t *testing.T) {
	tests := []struct {
		name, body string
		want       string
		json       bool
	}{
		{"object", ` {"a": [1]} `, `{"a": [1]}`, true},
		{"array", `[1]`, `[1]`, true},
		{"text", `"a=b\u0026c=\"d\""`, `a=b&c="d"`, false},
		{"none", ``, ``, false},
		{"null", `null`, ``, false},
		{"what a user wrote", `{"messages":[{"content":"${apiKey}"}]}`, `{"messages":[{"content":"${apiKey}"}]}`, true},
		{"part of a text", `{"user":"say \"${apiKey}\""}`, `{"user":"say \"${apiKey}\""}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got Checked
			if err := got.setBody(abi.RawJSON(tt.body)); err != nil || string(got.Body) != tt.want || got.IsJSON != tt.json {
				t.Errorf("setBody(%s) = %q, %v, %v; want %q, %v", tt.body, got.Body, got.IsJSON, err, tt.want, tt.json)
			}
		})
	}
}

// TestRequestRefused checks that each thing that a plugin may not ask for is
// refused with a reason, and that no reason holds the key.
func TestCheckRefuses(t *testing.T) {
	type out = Request
	header := func(name, value string) func(*out) {
		return func(o *out) { o.Encoded.Headers[name] = value }
	}
	url := func(s string) func(*out) { return func(o *out) { o.Encoded.URL = s } }
	tests := []struct {
		name   string
		change func(*out)
		text   string
	}{
		{"other host", url("https://evil.example.com/"), "https://evil.example.com:443, which it has no grant for"},
		{"other port", url("https://api.example.com:8443/"), "no grant"},
		{"other scheme", url("http://api.example.com/"), "no grant"},
		{"host as a prefix", url("https://api.example.com.evil.example/"), "no grant"},
		{"host as a suffix", url("https://xapi.example.com/"), "no grant"},
		{"host with a final dot", url("https://api.example.com./"), "no grant"},
		{"no grants", func(o *out) { o.Grants.HTTP = nil }, "no grant"},
		{"baseUrl not granted", func(o *out) { o.BaseURL = "https://own.example"; o.Encoded.URL = "https://own.example/x" }, "no grant"},
		{"baseUrl granted but another", func(o *out) {
			o.Grants.HTTP = []string{abi.GrantBaseURL}
			o.BaseURL = "https://own.example"
		}, "no grant"},
		{"baseUrl granted but none", func(o *out) { o.Grants.HTTP = []string{abi.GrantBaseURL} }, "no grant"},
		{"user", url("https://me:pw@api.example.com/"), "user name or password"},
		{"user that looks like the host", url("https://api.example.com@evil.example/"), "user name or password"},
		{"file", url("file:///etc/passwd"), "does not begin with http:// or https://"},
		{"gopher", url("gopher://api.example.com/"), "does not begin with http:// or https://"},
		{"relative", url("/v1/chat"), "does not begin with http:// or https://"},
		{"no scheme", url("//api.example.com/"), "does not begin with http:// or https://"},
		{"opaque", url("https:api.example.com"), "names no host"},
		{"no host", url("https://:443/"), "names no host"},
		{"zone", url("http://[fe80::1%25eth0]/"), "zone"},
		{"control character", url("https://api.example.com/\x00"), "a space or a control character"},
		{"space", url("https://api.example.com/a b"), "a space or a control character"},
		{"line end", url("https://api.example.com/\r\nX: y"), "a space or a control character"},
		{"malformed", url("https://api.example.com:x/"), "malformed"},
		{"not a URL", url(""), "does not begin with http"},
		{"long URL", url("https://api.example.com/" + strings.Repeat("x", 9000)), "9024 bytes"},
		{"placeholder in the URL", url("https://api.example.com/?key=${apiKey}"), "placeholder in the URL"},
		{"placeholder in the host", url("https://${apiKey}.example.com/"), "placeholder in the URL"},
		{"placeholder in a header's name", header("x-${apiKey}", "1"), "placeholder in a header's name"},
		{"placeholder in the body", func(o *out) { o.Encoded.Body = abi.RawJSON(`{"api_key":"${apiKey}"}`) }, `body's field "api_key"`},
		{"unknown placeholder", header("x-a", "${nothing}"), `${nothing} in the header "X-A"`},
		{"secret not granted", header("x-a", "${orgId}"), "grants name no such secret"},
		{"secret not set", func(o *out) { o.Secrets = nil }, "the workspace has no apiKey"},
		{"placeholder not closed", header("x-a", "${apiKey"), "begins no placeholder"},
		{"placeholder with a space", header("x-a", "${api Key}"), "begins no placeholder"},
		{"placeholder without a name", header("x-a", "${}"), "begins no placeholder"},
		{"secret with a line end", func(o *out) { o.Secrets["apiKey"] = apiKey + "\r\nX-Evil: 1" }, "the workspace's apiKey holds a line end"},
		{"Host", header("host", "evil.example"), "only the host sets"},
		{"Content-Length", header("Content-Length", "3"), "only the host sets"},
		{"Transfer-Encoding", header("TRANSFER-ENCODING", "chunked"), "only the host sets"},
		{"Connection", header("connection", "close"), "only the host sets"},
		{"Upgrade", header("upgrade", "h2c"), "only the host sets"},
		{"Proxy-Authorization", header("Proxy-Authorization", "x"), "only the host sets"},
		{"Accept-Encoding", header("accept-encoding", "br"), "only the host sets"},
		{"value with a line end", header("x-a", "1\r\nx-evil: 2"), "a line end"},
		{"value with NUL", header("x-a", "1\x00"), "a line end"},
		{"name with a space", header("x a", "1"), "not a header name"},
		{"name with a line end", header("x\r\ny", "1"), "not a header name"},
		{"empty name", header("", "1"), "not a header name"},
		{"pseudo header", header(":authority", "evil"), "not a header name"},
		{"header twice", header("Authorization", "x"), "twice"},
		{"value with a control character of C1", header("x-a", "1\u0085"), "a line end"},
		{"long header", header("x-a", strings.Repeat("x", maxHeaderValue+1)), "to 8193 bytes"},
		{"long headers", func(o *out) {
			for i := range 5 {
				o.Encoded.Headers[fmt.Sprintf("x-%d", i)] = strings.Repeat("x", maxHeaderValue)
			}
		}, "bytes of headers"},
		{"many headers", func(o *out) {
			for i := range 70 {
				o.Encoded.Headers[fmt.Sprintf("x-%d", i)] = "1"
			}
		}, "71 headers"},
		{"method", func(o *out) { o.Encoded.Method = "DELETE" }, `"DELETE"`},
		{"framing", func(o *out) { o.Encoded.Framing = "xml" }, `"xml"`},
		{"body no JSON", func(o *out) { o.Encoded.Body = abi.RawJSON(`"a`) }, "not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := granted()
			tt.change(o)
			_, err := o.Check()
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Kind != Refused || e.Retryable || !strings.Contains(e.Message, tt.text) {
				t.Fatalf("error %v, want one of kind %s with %q", err, Refused, tt.text)
			}
			if strings.Contains(err.Error(), apiKey) || strings.Contains(err.Error(), "org-not-granted") {
				t.Errorf("error %q holds a secret", err)
			}
		})
	}
}

func TestGrants(t *testing.T) {
	tests := []struct {
		url, grant, base string
		private          bool
	}{
		{"https://api.example.com/v1/x?y=z#f", "https://api.example.com", "", false},
		{"https://API.Example.com:443/v1", "HTTPS://api.example.COM/", "", false},
		{"http://api.example.com/", "http://api.example.com:80", "", false},
		{"https://own.example:8443/deployments/x", abi.GrantBaseURL, "https://own.example:8443/openai/", true},
		{"http://10.1.2.3:8000/v1/chat/completions", abi.GrantBaseURL, "http://10.1.2.3:8000", true},
		{"http://[::1]:8000/v1", abi.GrantBaseURL, "http://[::1]:8000/v1", true},
		// A grant of the manifest and a baseUrl that names the same.
		{"http://10.1.2.3:8000/v1", "http://10.1.2.3:8000", "http://10.1.2.3:8000/v1", true},
		{"http://10.1.2.3:8000/v1", "http://10.1.2.3:8000", "http://10.1.2.4:8000/v1", false},
		{"http://10.1.2.3:8000/v1", "http://10.1.2.3:8000", "http://10.1.2.3:8001/v1", false},
	}
	for _, tt := range tests {
		out := &Request{Encoded: &abi.EncodeResponse{URL: tt.url}, Grants: abi.Grants{HTTP: []string{"https://other.example", tt.grant}}, BaseURL: tt.base}
		if c, err := out.Check(); err != nil || c.Private != tt.private {
			t.Errorf("%s with the grant %s and baseUrl %q: %+v, error %v; want private %v, none", tt.url, tt.grant, tt.base, c, err, tt.private)
		}
	}
}

func TestExpand(t *testing.T) {
	// What a secret holds is not a placeholder, whatever it looks like.
	secrets := map[string]string{"apiKey": "${orgId}", "orgId": "o"}
	got, err := expand("h", "a ${apiKey}:${orgId} $ {x} }", []string{"apiKey", "orgId"}, secrets)
	if want := "a ${orgId}:o $ {x} }"; err != nil || got != want {
		t.Errorf("expand = %q, %v; want %q", got, err, want)
	}
}

func TestIsToken(t *testing.T) {
	for s, want := range map[string]bool{"X-Api-Key": true, "a!#$%&'*+-.^_`|~1": true, "": false, "a b": false, "é": false, "a:": false, "(": false} {
		if got := isToken(s); got != want {
			t.Errorf("isToken(%q) = %v, want %v", s, got, want)
		}
	}
	if http.CanonicalHeaderKey("x-api-key") != "X-Api-Key" {
		t.Error("header names are not what the rest of these tests take them to be")
	}
}
