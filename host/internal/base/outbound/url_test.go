package outbound_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/outbound/outboundtest"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for _, text := range slices.Concat(outboundtest.BadURLs, outboundtest.UserURLs, []string{"", "http://host.example/" + strings.Repeat("a", 4096)}) {
		u, err := outbound.ParseURL(text, outbound.URLRules{Query: true})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("ParseURL(%.60q) = %v, %v, want an error without the text", text, u, err)
		}
	}
	for _, text := range []string{"http://host.example", "HTTP://Host.Example:80/v1/", "https://[::1]:8443/a%20b", "http://10.0.0.7", "http://localhost.:7700", "https://bücher.example/ü"} {
		if _, err := outbound.ParseURL(text, outbound.URLRules{}); err != nil {
			t.Errorf("ParseURL(%q): %v", text, err)
		}
	}
	for text, rules := range map[string]outbound.URLRules{
		"http://host.example/?q=1": {Query: true}, "http://user:s3cret@host.example": {User: true}, "nats://host.example:4222": {Schemes: []string{"nats", "tls"}},
	} {
		if _, err := outbound.ParseURL(text, rules); err != nil {
			t.Errorf("ParseURL(%q, %+v): %v", text, rules, err)
		}
		if _, err := outbound.ParseURL(text, outbound.URLRules{NoPath: true}); err == nil {
			t.Errorf("ParseURL(%q): no error where its rules do not allow it", text)
		}
	}
	if _, err := outbound.ParseURL("http://host.example/x", outbound.URLRules{NoPath: true}); err == nil {
		t.Error("a path where there may be none: no error")
	}
}

func TestSameHost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"https://a.example/x", "https://A.example:443/y?z", true},
		{"http://a.example", "http://a.example:80", true},
		{"http://[::1]:80", "http://[::1]", true},
		{"https://a.example", "http://a.example", false},
		{"https://a.example", "https://a.example:8443", false},
		{"https://a.example", "https://a.example.evil.example", false},
		{"https://a.example", "https://a.example@evil.example", false},
		{"", "", false},
		{"x", "x", false},
	} {
		if got := outbound.SameHost(tt.a, tt.b); got != tt.want {
			t.Errorf("SameHost(%q, %q) = %v", tt.a, tt.b, got)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST.": true, "a.localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "[::1]": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.example": false, "0.0.0.0": false, "10.0.0.1": false, "127.0.0.1.example": false, "notlocalhost": false, "::": false,
	} {
		if got := outbound.IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) = %v", host, got)
		}
	}
}
