package network_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/search/network/networktest"
)

func TestStore(t *testing.T) { networktest.TestStore(t, new(networktest.Store)) }

// show writes a network on one line, keys in the clear.
func show(n *network.Network) string {
	out := n.Self + ":"
	for _, name := range slices.Sorted(maps.Keys(n.Remotes)) {
		out += fmt.Sprintf(" %s=%s(%s)", name, n.Remotes[name].URL, n.Remotes[name].Key.Reveal())
	}
	return out
}

func TestPatch(t *testing.T) {
	s := network.New(new(networktest.Store))
	for _, step := range []struct{ body, want string }{
		{`{}`, ":"},
		{`{"self":"a","remotes":{"a":{"url":"http://a:7700/"},"b":{"url":"https://b","searchApiKey":"key-0123456789"}}}`, "a: a=http://a:7700() b=https://b(key-0123456789)"},
		{`{"remotes":{"c":{"url":"https://c/sub/"}}}`, "a: a=http://a:7700() b=https://b(key-0123456789) c=https://c/sub()"},
		{`{"self":null,"remotes":{"a":null,"c":null,"nope":null}}`, ": b=https://b(key-0123456789)"},
		{`{"remotes":{"b":{"url":"https://b/v2"}}}`, ": b=https://b/v2(key-0123456789)"},
		{`{"remotes":{"b":{"searchApiKey":"keXXXX..."}}}`, ": b=https://b/v2(key-0123456789)"},
		{`{"remotes":{"b":{"url":"https://elsewhere"}}}`, ": b=https://elsewhere()"},
		{`{"remotes":{"b":{"searchApiKey":"k"}}}`, ": b=https://elsewhere(k)"},
		{`{"remotes":{"b":{"url":"http://elsewhere"}}}`, ": b=http://elsewhere()"},
		{`{"remotes":{"b":{"url":"https://b","searchApiKey":"k2"}}}`, ": b=https://b(k2)"},
		{`{"remotes":{"b":{"searchApiKey":null}}}`, ": b=https://b()"},
		{`{"remotes":null,"self":"x"}`, "x:"},
	} {
		n, err := s.Patch(t.Context(), []byte(step.body))
		if err != nil || show(n) != step.want {
			t.Fatalf("Patch %s = %v, %v; want %s", step.body, n, err, step.want)
		}
		if n, err = s.Network(t.Context()); err != nil || show(n) != step.want {
			t.Errorf("Network after %s = %s, %v; want %s", step.body, show(n), err, step.want)
		}
	}
}

func TestPatchRefused(t *testing.T) {
	s := network.New(new(networktest.Store))
	if _, err := s.Patch(t.Context(), []byte(`{"remotes":{"b":{"url":"https://b","searchApiKey":"key-0123456789"}}}`)); err != nil {
		t.Fatal(err)
	}
	many := `{"remotes":{`
	for i := range 100 {
		many += fmt.Sprintf(`"r%d":{"url":"http://r"},`, i)
	}
	for _, tt := range []struct {
		body string
		code apierr.Code
		says string
	}{
		{`[]`, apierr.BadRequest, "an object"},
		{`{"self":`, apierr.MalformedPayload, "line 1"},
		{`{"remote":{}}`, apierr.BadRequest, "did you mean `remotes`?"},
		{`{"self":7}`, apierr.InvalidNetworkSelf, "`self` must be a string"},
		{`{"self":""}`, apierr.InvalidNetworkSelf, "1 to 100 bytes"},
		{`{"remotes":[]}`, apierr.InvalidNetworkRemotes, "`remotes` must be an object"},
		{`{"remotes":{"b":"https://b"}}`, apierr.InvalidNetworkRemotes, "`remotes.b` must be an object"},
		{`{"remotes":{"":{"url":"https://b"}}}`, apierr.InvalidNetworkRemotes, "1 to 100 bytes"},
		{many + `"s":{"url":"http://s"}}}`, apierr.InvalidNetworkRemotes, "at most 100"},
		{`{"remotes":{"b":{"uri":"x"}}}`, apierr.BadRequest, "did you mean `url`?"},
		{`{"remotes":{"c":{}}}`, apierr.MissingNetworkURL, "`remotes.c.url` is missing"},
		{`{"remotes":{"b":{"url":null}}}`, apierr.MissingNetworkURL, "`remotes.b.url` is missing"},
		{`{"remotes":{"b":{"url":1}}}`, apierr.InvalidNetworkURL, "`remotes.b.url` must be a string"},
		{`{"remotes":{"b":{"url":"b:7700"}}}`, apierr.InvalidNetworkURL, "of http or https"},
		{`{"remotes":{"b":{"url":"https://me:secretword@b"}}}`, apierr.InvalidNetworkURL, "without user"},
		{`{"remotes":{"b":{"searchApiKey":["secretword"]}}}`, apierr.InvalidNetworkSearchAPIKey, "must be a string"},
		{`{"remotes":{"b":{"searchApiKey":"secretword\n"}}}`, apierr.InvalidNetworkSearchAPIKey, "control characters"},
		{`{"remotes":{"b":{"searchApiKey":"zzXXXX..."}}}`, apierr.InvalidNetworkSearchAPIKey, "as it is shown"},
	} {
		_, err := s.Patch(t.Context(), []byte(tt.body))
		e := apierr.From(err)
		if e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.says) {
			t.Errorf("Patch %s: %v, want %s that says %s", tt.body, err, tt.code, tt.says)
		} else if strings.Contains(e.Message, "secretword") {
			t.Errorf("Patch %s: %v repeats a secret", tt.body, err)
		}
	}
	if n, err := s.Network(t.Context()); err != nil || show(n) != ": b=https://b(key-0123456789)" {
		t.Errorf("after what was refused the network is %s, %v", show(n), err)
	}
}

func TestRemote(t *testing.T) {
	s := network.New(new(networktest.Store))
	if _, _, err := s.Remote(t.Context(), "b"); apierr.From(err).Code != searcherr.InvalidMultiSearchRemote || !strings.Contains(err.Error(), "there are none") {
		t.Errorf("Remote of an empty network: %v", err)
	}
	if _, err := s.Patch(t.Context(), []byte(`{"self":"here","remotes":{"here":{"url":"http://here"},"north":{"url":"http://north","searchApiKey":"k"}}}`)); err != nil {
		t.Fatal(err)
	}
	r, self, err := s.Remote(t.Context(), "north")
	if err != nil || self != "here" || r.URL != "http://north" || r.Key.Reveal() != "k" {
		t.Errorf("Remote(north) = %+v, %q, %v; want north, asked by here", r, self, err)
	}
	if _, self, err := s.Remote(t.Context(), "here"); err != nil || self != "here" {
		t.Errorf("Remote(here) is asked by %q, %v; want by here", self, err)
	}
	if _, _, err := s.Remote(t.Context(), "nort"); err == nil || !strings.Contains(err.Error(), "did you mean `north`?") {
		t.Errorf("Remote(nort) = %v, want north named", err)
	}
}
