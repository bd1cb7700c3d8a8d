package auth_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/auth/authtest"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

const master = "a master key of tests"

// clock is a time that a test moves.
type clock struct{ t time.Time }

func newClock() *clock { return &clock{time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)} }

func open(t testing.TB, masterKey string, c *clock) *auth.Service {
	t.Helper()
	s, err := auth.Open(t.Context(), &authtest.Memory{}, auth.Options{MasterKey: masterKey, Now: func() time.Time { return c.t }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// create makes a key and returns it with its value.
func create(t testing.TB, s *auth.Service, d auth.Draft) (auth.Key, string) {
	t.Helper()
	k, err := s.Create(t.Context(), auth.Everyone(), d)
	if err != nil {
		t.Fatal(err)
	}
	return k, s.Value(&k)
}

func TestMemory(t *testing.T) { authtest.TestKeys(t, &authtest.Memory{}) }

func TestDefaultKeys(t *testing.T) {
	store := &authtest.Memory{}
	s, err := auth.Open(t.Context(), store, auth.Options{MasterKey: master})
	if err != nil {
		t.Fatal(err)
	}
	keys, total := s.Keys(0, 20)
	got := make(map[string]string)
	for _, k := range keys {
		got[*k.Name] = fmt.Sprint(k.Actions, k.Indexes, k.ExpiresAt)
	}
	want := map[string]string{
		"Default Chat API Key":            "[chatCompletions search] [*] <nil>",
		"Default Search API Key":          "[search] [*] <nil>",
		"Default Admin API Key":           "[*] [*] <nil>",
		"Default Read-Only Admin API Key": "[*.get keys.get] [*] <nil>",
	}
	if !maps.Equal(got, want) || total != 4 {
		t.Errorf("keys of a new host = %v (%d), want %v", got, total, want)
	}

	// One that was deleted does not come back; all others keep their values.
	if err := s.Delete(t.Context(), keys[0].UID); err != nil {
		t.Fatal(err)
	}
	again, err := auth.Open(t.Context(), store, auth.Options{MasterKey: master})
	if err != nil {
		t.Fatal(err)
	}
	left, total := again.Keys(0, 20)
	if total != 3 || left[0].UID != keys[1].UID || again.Value(&left[0]) != s.Value(&keys[1]) {
		t.Errorf("keys after a delete and a restart = %v, want the other three", left)
	}
}

// The value of a key is what other tools compute from master key and uid.
func TestValue(t *testing.T) {
	s := open(t, "masterKey", newClock())
	// printf 6062abda-a5aa-4414-ac91-ecd7944c0f8d | openssl dgst -sha256 -hmac masterKey
	const want = "0d030b69eea2dde1af6e6b714146c4dc942d4b2725c173e5d132c60aad9782f5"
	k, got := create(t, s, auth.Draft{UID: "6062ABDA-a5aa-4414-ac91-ecd7944c0f8d"})
	if got != want || k.UID != strings.ToLower(k.UID) {
		t.Errorf("value = %s of %s, want %s", got, k.UID, want)
	}
}

func TestAuthenticate(t *testing.T) {
	c := newClock()
	s := open(t, master, c)
	_, search := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	_, brief := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}, ExpiresAt: new("2026-11-21T06:00:00Z")})
	tests := []struct {
		name, header string
		code         apierr.Code // zero: passes
		message      string
	}{
		{"master", "Bearer " + master, apierr.Code{}, ""},
		{"key", "Bearer " + search, apierr.Code{}, ""},
		{"scheme in another case", "bearer " + search, apierr.Code{}, ""}, // RFC 9110, section 11.1
		{"scheme in capitals", "BEARER " + search, apierr.Code{}, ""},
		{"spaces", "  Bearer   " + search + " ", apierr.Code{}, ""},
		{"not yet expired", "Bearer " + brief, apierr.Code{}, ""},
		{"none", "", apierr.MissingAuthorizationHeader, "is missing: send `Authorization: Bearer <key>`"},
		{"another scheme", "Basic " + search, apierr.MissingAuthorizationHeader, "does not begin with `Bearer`"},
		{"no scheme", search, apierr.MissingAuthorizationHeader, "does not begin with `Bearer`"},
		{"no token", "Bearer", apierr.InvalidAPIKey, "not one of this host"},
		{"unknown", "Bearer 0123456789", apierr.InvalidAPIKey, "not one of this host"},
		{"beginning of a key", "Bearer " + search[:63], apierr.InvalidAPIKey, "not one of this host"},
		{"key in capitals", "Bearer " + strings.ToUpper(search), apierr.InvalidAPIKey, "not one of this host"},
		{"no token of ours", "Bearer a.b.c", apierr.InvalidAPIKey, "not a JWT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			caller, err := s.Authenticate(tt.header)
			if tt.message == "" {
				if err != nil || !caller.Allows(auth.Search) {
					t.Errorf("Authenticate = %v, %v, want a caller that may search", caller, err)
				}
				return
			}
			if !apierr.Is(err, tt.code) || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("Authenticate: error %v, want %s with %q", err, tt.code, tt.message)
			}
		})
	}
	c.t = c.t.Add(time.Hour)
	if _, err := s.Authenticate("Bearer " + brief); !apierr.Is(err, apierr.InvalidAPIKey) || !strings.Contains(err.Error(), "expired at 2026-11-21T06:00:00Z") {
		t.Errorf("Authenticate an hour later: error %v, want expired", err)
	}
}

// Without a master key everybody may do everything, whatever they send.
func TestOpenHost(t *testing.T) {
	s := open(t, "", newClock())
	keys, _ := s.Keys(0, 20)
	if len(keys) != 4 || s.Value(&keys[0]) != "" || s.Protected() {
		t.Errorf("keys of an open host = %d, value %q, want 4 without a value", len(keys), s.Value(&keys[0]))
	}
	for _, header := range []string{"", "Bearer x", "Basic x"} {
		caller, err := s.Authenticate(header)
		if err != nil || !caller.Allows(auth.DocumentsAdd) {
			t.Errorf("Authenticate(%q) = %v, %v, want everyone", header, caller, err)
		}
		if filter, ok := caller.Index("any"); !ok || filter != nil {
			t.Errorf("Index = %s, %v, want any index without a filter", filter, ok)
		}
	}
}

func TestCallerOfAKey(t *testing.T) {
	s := open(t, master, newClock())
	tests := []struct {
		name             string
		actions, indexes []string
		may, mayNot      []auth.Action
		uses, usesNot    []string
	}{
		{
			"one action",
			[]string{"documents.add"},
			[]string{"movies"},
			[]auth.Action{auth.DocumentsAdd},
			[]auth.Action{auth.DocumentsGet, auth.Search, auth.KeysGet, ""},
			[]string{"movies"},
			[]string{"movies2", "movie", "", "*"},
		},
		{
			"group",
			[]string{"documents.*"},
			[]string{"mov*", "b"},
			[]auth.Action{auth.DocumentsAdd, auth.DocumentsGet, auth.DocumentsDelete},
			[]auth.Action{auth.IndexesGet, auth.ChatsGet},
			[]string{"mov", "movies", "b"},
			[]string{"mo", "bb"},
		},
		{
			"all",
			[]string{"*"},
			[]string{"*"},
			[]auth.Action{auth.KeysCreate, auth.ChatCompletions, auth.PluginsGet},
			nil,
			[]string{"x"},
			nil,
		},
		{
			"all that reads",
			[]string{"*.get"},
			[]string{"*"},
			[]auth.Action{auth.Search, auth.DocumentsGet, auth.ChatsGet, auth.ChatsSettingsGet, auth.PluginsGet, auth.Version},
			[]auth.Action{auth.KeysGet, auth.ChatCompletions, auth.DocumentsAdd, auth.ChatsSettingsWrite},
			[]string{"x"},
			nil,
		},
		{
			"all, but bound to an index",
			[]string{"*"},
			[]string{"movies"},
			[]auth.Action{auth.Search, auth.DocumentsAdd, auth.ChatCompletions},
			[]auth.Action{auth.KeysCreate, auth.ChatsSettingsWrite, auth.PluginsGet},
			[]string{"movies"},
			[]string{"x"},
		},
		{"nothing", nil, nil, nil, []auth.Action{auth.Search}, nil, []string{"x", ""}},
		{"actions without an index", []string{"version"}, nil, []auth.Action{auth.Version}, nil, nil, []string{"x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, value := create(t, s, auth.Draft{Actions: tt.actions, Indexes: tt.indexes})
			c, err := s.Authenticate("Bearer " + value)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range tt.may {
				if err := c.Require(a); err != nil {
					t.Errorf("Require(%s) = %v, want nil", a, err)
				}
			}
			for _, a := range tt.mayNot {
				if err := c.Require(a); !apierr.Is(err, apierr.InvalidAPIKey) {
					t.Errorf("Require(%s) = %v, want %s", a, err, apierr.InvalidAPIKey)
				}
			}
			for _, uid := range tt.uses {
				if _, ok := c.Index(uid); !ok {
					t.Errorf("Index(%q) = false, want true", uid)
				}
			}
			for _, uid := range tt.usesNot {
				if _, ok := c.Index(uid); ok {
					t.Errorf("Index(%q) = true, want false", uid)
				}
			}
		})
	}
}

// sign makes a token, as a client does.
func sign(t testing.TB, method jwt.SigningMethod, key any, c jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, c).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func BenchmarkAuthenticate(b *testing.B) {
	s := open(b, master, newClock())
	k, value := create(b, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	for range 1000 {
		create(b, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	}
	token := sign(b, jwt.SigningMethodHS256, []byte(value), jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": map[string]any{"m*": map[string]any{"filter": "a = 1"}}})
	for _, bb := range []struct{ name, header string }{
		{"master", "Bearer " + master}, {"key", "Bearer " + value}, {"tenant", "Bearer " + token},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Authenticate(bb.header); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestReadersDoNotExport wants the action that sends documents elsewhere from
// those alone who were given it.
func TestReadersDoNotExport(t *testing.T) {
	s := open(t, master, newClock())
	for action, want := range map[string]bool{"*.get": false, "export": true, "*": true} {
		_, value := create(t, s, auth.Draft{Actions: []string{action}, Indexes: []string{"*"}})
		c, err := s.Authenticate("Bearer " + value)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Allows(auth.Export); got != want {
			t.Errorf("a key with %s may export: %v, want %v", action, got, want)
		}
	}
}
