package network

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
)

const (
	maxRemotes = 100
	maxName    = 100
	maxKey     = 4 << 10
)

// A change is the body of PATCH /network: a value sets, null takes away, what
// is absent stays; the same for each remote.
type change struct {
	Self    apierr.Optional[string]                                   `json:"self"`
	Remotes apierr.Optional[map[string]apierr.Optional[remoteChange]] `json:"remotes"`

	// Documents are not spread over hosts: null alone is taken.
	Leader apierr.Optional[json.RawMessage] `json:"leader"`
	Shards apierr.Optional[json.RawMessage] `json:"shards"`
}

type remoteChange struct {
	URL apierr.Optional[string] `json:"url"`
	Key apierr.Optional[string] `json:"searchApiKey"`
	// WriteKey is not kept: nothing is written to a remote.
	WriteKey apierr.Optional[string] `json:"writeApiKey"`
}

func readChange(body []byte) (c change, err error) {
	return c, apierr.DecodeStrict(body, &c, apierr.Fields{
		"self": apierr.InvalidNetworkSelf, "remotes": apierr.InvalidNetworkRemotes,
		"remotes.*.url": apierr.InvalidNetworkURL, "remotes.*.searchApiKey": apierr.InvalidNetworkSearchAPIKey,
	})
}

// apply returns old as it is after c.
func (c *change) apply(old *Network) (*Network, error) {
	for name, v := range map[string]*json.RawMessage{"leader": c.Leader.Value, "shards": c.Shards.Value} {
		if v != nil {
			return nil, apierr.Newf(apierr.BadRequest, "`%s` must be null or absent: the network lists hosts to search, and does not spread documents over them.", name)
		}
	}
	n := &Network{Self: old.Self, Remotes: maps.Clone(old.Remotes)}
	if n.Remotes == nil {
		n.Remotes = map[string]Remote{}
	}
	if c.Self.Set {
		n.Self = ""
		if c.Self.Value != nil {
			if !validName(*c.Self.Value) {
				return nil, apierr.Newf(apierr.InvalidNetworkSelf, "`self` is %.120q: a remote's name has %s.", *c.Self.Value, nameRule)
			}
			n.Self = *c.Self.Value
		}
	}
	switch {
	case !c.Remotes.Set:
		return n, nil
	case c.Remotes.Value == nil:
		n.Remotes = map[string]Remote{}
		return n, nil
	}
	for _, name := range slices.Sorted(maps.Keys(*c.Remotes.Value)) {
		if !validName(name) {
			return nil, apierr.Newf(apierr.InvalidNetworkRemotes, "`remotes` has the key %.120q: a remote's name has %s.", name, nameRule)
		}
		rc := (*c.Remotes.Value)[name]
		if rc.Value == nil {
			delete(n.Remotes, name)
			continue
		}
		r, err := rc.Value.apply(name, n.Remotes[name])
		if err != nil {
			return nil, err
		}
		n.Remotes[name] = r
	}
	if len(n.Remotes) > maxRemotes {
		return nil, apierr.Newf(apierr.InvalidNetworkRemotes, "The network would have %d remotes: it may have at most %d.", len(n.Remotes), maxRemotes)
	}
	return n, nil
}

const nameRule = "1 to 100 bytes, without control characters"

func validName(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, control)
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// apply returns the remote old as it is after c.
func (c *remoteChange) apply(name string, old Remote) (Remote, error) {
	r := old
	if c.URL.Set {
		r.URL = ""
		if c.URL.Value != nil {
			u, err := readURL(name, *c.URL.Value)
			if err != nil {
				return r, err
			}
			r.URL = u
		}
	}
	if r.URL == "" {
		return r, apierr.Newf(apierr.MissingNetworkURL, "`remotes.%s.url` is missing: send the URL of the remote's API, such as \"https://search.example.com\".", name)
	}
	sent, err := c.readKey(name, &r)
	if err == nil && !sent && !outbound.SameHost(old.URL, r.URL) {
		// A key stays with the host that it was given for.
		r.Key, r.KeyUnreadable = secret.Text{}, false
	}
	return r, err
}

// readURL checks a URL. The errors do not repeat it: what is wrong with it may
// be a secret in it.
func readURL(name, s string) (string, error) {
	if _, err := outbound.ParseURL(s, outbound.URLRules{}); err != nil {
		return "", apierr.Newf(apierr.InvalidNetworkURL, "`remotes.%s.url` %v: it must be a URL such as \"https://search.example.com\", of http or https, without user, password, query and fragment.", name, err)
	}
	return strings.TrimRight(s, "/"), nil
}

// readKey applies the key to r. sent says that the client gave one, or took it
// away: the key as it is shown, sent back, is neither.
func (c *remoteChange) readKey(name string, r *Remote) (sent bool, err error) {
	if !c.Key.Set {
		return false, nil
	}
	key := ""
	if c.Key.Value != nil {
		key = *c.Key.Value
	}
	switch {
	case key != "" && key == r.ShownKey():
		return false, nil
	case secret.IsObfuscated(key):
		return false, apierr.Newf(apierr.InvalidNetworkSearchAPIKey,
			"`remotes.%s.searchApiKey` is a key as it is shown, and not that of the stored one: send the key itself, or leave the field out to keep what is stored.", name)
	case len(key) > maxKey || strings.ContainsFunc(key, control):
		return false, apierr.Newf(apierr.InvalidNetworkSearchAPIKey,
			"`remotes.%s.searchApiKey` must be at most %d bytes without control characters: it is sent in a header.", name, maxKey)
	}
	r.Key, r.KeyUnreadable = secret.New(key), false
	return true, nil
}

// ShownKey is the key as clients see it: enough to know it again, "" for none.
func (r *Remote) ShownKey() string {
	if r.KeyUnreadable {
		return secret.ShortestShown
	}
	return secret.Obfuscate(r.Key)
}
