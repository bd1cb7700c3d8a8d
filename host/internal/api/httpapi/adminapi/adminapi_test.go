package adminapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/search/network"
)

// TestNewKey wants what a key must have to be said, null where that means something.
func TestNewKey(t *testing.T) {
	const good = `"actions":["search"],"indexes":["*"],"expiresAt":null`
	for _, tt := range []struct {
		body string
		code apierr.Code // the zero one: none
	}{
		{`{` + good + `}`, apierr.Code{}},
		{`{` + good + `,"workspaces":["hr"],"uid":"6062abda-a5aa-4414-ac91-ecd7944c0f8d"}`, apierr.Code{}},
		{`{"indexes":["*"],"expiresAt":null}`, apierr.MissingAPIKeyActions},
		{`{"actions":null,"indexes":["*"],"expiresAt":null}`, apierr.InvalidAPIKeyActions},
		{`{"actions":["search"],"expiresAt":null}`, apierr.MissingAPIKeyIndexes},
		{`{"actions":["search"],"indexes":null,"expiresAt":null}`, apierr.InvalidAPIKeyIndexes},
		{`{"actions":["search"],"indexes":["*"]}`, apierr.MissingAPIKeyExpiresAt},
		{`{` + good + `,"uid":""}`, apierr.InvalidAPIKeyUID},
	} {
		var b newKeyBody
		if err := json.Unmarshal([]byte(tt.body), &b); err != nil {
			t.Fatal(err)
		}
		d, err := b.draft()
		if tt.code != (apierr.Code{}) {
			if !apierr.Is(err, tt.code) {
				t.Errorf("%s: %v, want %s", tt.body, err, tt.code)
			}
		} else if err != nil || len(d.Actions) != 1 || d.ExpiresAt != nil {
			t.Errorf("%s: %+v, %v", tt.body, d, err)
		}
	}
}

// TestKeyPatch refuses by name what of a key never changes.
func TestKeyPatch(t *testing.T) {
	for _, field := range []string{"actions", "indexes", "workspaces", "expiresAt", "createdAt", "updatedAt", "key", "uid"} {
		var b keyPatchBody
		if err := json.Unmarshal([]byte(`{"name":"x","`+field+`":"y"}`), &b); err != nil {
			t.Fatal(err)
		}
		if err := b.check(); err == nil || !strings.Contains(err.Error(), "`"+field+"`") || !strings.HasPrefix(apierr.From(err).Code.String(), "immutable_") {
			t.Errorf("a change of %s: %v, want it refused by name", field, err)
		}
	}
	var b keyPatchBody
	if err := json.Unmarshal([]byte(`{"name":"x","description":null,"limits":{}}`), &b); err != nil || b.check() != nil {
		t.Errorf("a change of name, description and limits: %v, %v", err, b.check())
	}
}

// TestBodies shows a network without its keys, and features in the order of their table.
func TestBodies(t *testing.T) {
	b, err := json.Marshal(newNetworkBody(&network.Network{Remotes: map[string]network.Remote{"a": {URL: "http://a"}}}))
	if err != nil || string(b) != `{"self":null,"remotes":{"a":{"url":"http://a","searchApiKey":null}}}` {
		t.Errorf("the network is %s, %v", b, err)
	}
	one, err := json.Marshal(featuresBody(feature.Set{}))
	var all map[string]bool
	if err != nil || json.Unmarshal(one, &all) != nil || len(all) == 0 {
		t.Errorf("features are %s, %v, want an object of all", one, err)
	}
	for name, on := range all {
		if on {
			t.Errorf("feature %s is on in a set of none", name)
		}
	}
}
