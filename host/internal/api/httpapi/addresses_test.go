package httpapi_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/outbound/outboundtest"
)

// TestBadAddresses gives each bad address to each route that takes one.
func TestBadAddresses(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{features: []feature.Feature{feature.Network}})
	for _, text := range slices.Concat(outboundtest.BadURLs, outboundtest.UserURLs) {
		quoted, err := json.Marshal(text)
		check(t, err)
		for _, tt := range []struct{ method, path, body string }{
			{"PATCH", "/chats/demo/settings", `{"baseUrl":` + string(quoted) + `}`},
			{"PATCH", "/network", `{"remotes":{"a":{"url":` + string(quoted) + `}}}`},
			{"POST", "/webhooks", `{"url":` + string(quoted) + `}`},
			{"POST", "/export", `{"url":` + string(quoted) + `}`},
			{"PATCH", "/indexes/a/settings", `{"embedders":{"a":{"source":"rest","url":` + string(quoted) + `,"request":"{{text}}","response":"{{embedding}}"}}}`},
			{"POST", "/indexes/a/files?baseUrl=" + url.QueryEscape(text), "{}"},
		} {
			a := r.do(tt.method, tt.path, tt.body)
			if a.status != 400 || strings.Contains(a.body, "s3cret") || !strings.Contains(strings.ToLower(a.body), "url") {
				t.Errorf("%s %.30s with %q = %d %s, want 400 that names it without the text", tt.method, tt.path, text, a.status, a.body)
			}
		}
	}
}
