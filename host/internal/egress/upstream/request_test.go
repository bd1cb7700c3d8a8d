package upstream

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// apiKey is a key that must never be seen but by the provider.
const apiKey = "sk-4f9a0c/71+d2<e8>b6"

// granted is an outbound to a public API with a key.
func granted() *outbound.Request {
	return &outbound.Request{
		Encoded: &abi.EncodeResponse{
			URL:     "https://api.example.com/v1/chat/completions",
			Headers: map[string]string{"authorization": "Bearer ${apiKey}"},
			Body:    abi.RawJSON(`{"model":"m"}`),
		},
		Grants:  abi.Grants{HTTP: []string{"https://api.example.com"}, Secrets: []string{"apiKey"}},
		Secrets: map[string]string{"apiKey": apiKey, "orgId": "org-not-granted"},
	}
}

func TestRequest(t *testing.T) {
	c := New(Options{UserAgent: "parley/test"})
	req, private, err := c.request(context.Background(), granted(), &payload{})
	if err != nil {
		t.Fatal(err)
	}
	if private {
		t.Error("a request to a granted origin may go to private addresses, without a baseUrl")
	}
	if req.Method != "POST" || req.URL.String() != "https://api.example.com/v1/chat/completions" || req.ContentLength != 13 {
		t.Errorf("request = %s %s with %d bytes, want POST, the URL and 13", req.Method, req.URL, req.ContentLength)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer " + apiKey, "Content-Type": "application/json", "User-Agent": "parley/test",
	} {
		if got := req.Header.Get(name); got != want {
			t.Errorf("header %s = %q, want %q", name, got, want)
		}
	}
}

// TestRequestNotSent wants what [outbound.Request.Check] refuses, and a body
// over the limit, not to be sent.
func TestRequestNotSent(t *testing.T) {
	for text, change := range map[string]func(*outbound.Request){
		"https://evil.example.com:443, which it has no grant for": func(o *outbound.Request) { o.Encoded.URL = "https://evil.example.com/" },
		"2003 bytes": func(o *outbound.Request) { o.Encoded.Body = abi.RawJSON("[" + strings.Repeat("1,", 1000) + "1]") },
	} {
		o := granted()
		change(o)
		_, err := client(t, Options{Limits: Limits{MaxRequest: 1000}}).Do(t.Context(), o)
		wantError(t, err, outbound.Refused, text, false)
	}
}
