package auth_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

func TestTenant(t *testing.T) {
	c := newClock()
	s := open(t, master, c)
	k, value := create(t, s, auth.Draft{Actions: []string{"*"}, Indexes: []string{"movies*", "books"}})
	rules := map[string]any{
		"movies":   map[string]any{"filter": "genre = drama"},
		"movies-*": map[string]any{"filter": []any{"a = 1", []any{"b = 2", "c = 3"}}},
		"mov*":     nil,
		"secret":   nil,
		"books":    map[string]any{},
	}
	for _, m := range []jwt.SigningMethod{jwt.SigningMethodHS256, jwt.SigningMethodHS384, jwt.SigningMethodHS512} {
		token := sign(t, m, []byte(value), jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": rules, "exp": c.t.Add(time.Hour).Unix(), "aud": 7, "sub": nil})
		caller, err := s.Authenticate("Bearer " + token)
		if err != nil {
			t.Fatalf("Authenticate with %s: %v", m.Alg(), err)
		}
		for _, a := range []auth.Action{auth.Search, auth.ChatCompletions} {
			if err := caller.Require(a); err != nil {
				t.Errorf("Require(%s) = %v, want nil", a, err)
			}
		}
		for _, a := range []auth.Action{auth.DocumentsGet, auth.IndexesGet, auth.KeysGet, auth.ChatsGet} {
			if err := caller.Require(a); !apierr.Is(err, apierr.InvalidAPIKey) || !strings.Contains(err.Error(), "tenant token") {
				t.Errorf("Require(%s) = %v, want %s", a, err, apierr.InvalidAPIKey)
			}
		}
		for uid, want := range map[string]string{
			"movies":   `"genre = drama"`,             // the uid itself
			"movies-a": `["a = 1",["b = 2","c = 3"]]`, // the longest beginning
			"movies2":  "",                            // a shorter one, without a filter
			"books":    "",
		} {
			if filter, ok := caller.Index(uid); !ok || string(filter) != want {
				t.Errorf("Index(%q) = %s, %v, want %s", uid, filter, ok, want)
			}
		}
		// The key does not hold it, or the rules do not.
		for _, uid := range []string{"secret", "mov", "book", "booksx"} {
			if _, ok := caller.Index(uid); ok {
				t.Errorf("Index(%q) = true, want false", uid)
			}
		}
	}
}

// TestTenantUser: tokens that name the same user are one client, and one caller where
// they have the same rules, however often they are renewed.
func TestTenantUser(t *testing.T) {
	c := newClock()
	s := open(t, master, c)
	k, value := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	other, otherValue := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	caller := func(key auth.Key, value string, claims jwt.MapClaims) (id, tenant string) {
		t.Helper()
		claims["apiKeyUid"] = key.UID
		got, err := s.Authenticate("Bearer " + sign(t, jwt.SigningMethodHS256, []byte(value), claims))
		if err != nil {
			t.Fatal(err)
		}
		return got.ID(), got.Payer(netip.Addr{}).Tenant
	}
	rules, fewer := map[string]any{"a": nil, "b": nil}, map[string]any{"a": nil}
	exp := func(h time.Duration) int64 { return c.t.Add(h * time.Hour).Unix() }
	id, tenant := caller(k, value, jwt.MapClaims{"sub": "ann", "searchRules": rules, "exp": exp(1)})
	for _, test := range []struct {
		name                 string
		key                  auth.Key
		value                string
		claims               jwt.MapClaims
		sameCaller, sameUser bool
	}{
		{"renewed", k, value, jwt.MapClaims{"sub": "ann", "searchRules": rules, "exp": exp(2)}, true, true},
		{"fewer rights", k, value, jwt.MapClaims{"sub": "ann", "searchRules": fewer, "exp": exp(2)}, false, true},
		{"another user", k, value, jwt.MapClaims{"sub": "bob", "searchRules": rules, "exp": exp(1)}, false, false},
		{"another key", other, otherValue, jwt.MapClaims{"sub": "ann", "searchRules": rules, "exp": exp(1)}, false, false},
		{"no user", k, value, jwt.MapClaims{"searchRules": rules, "exp": exp(1)}, false, false},
	} {
		if i, u := caller(test.key, test.value, test.claims); (i == id) != test.sameCaller || (u == tenant) != test.sameUser {
			t.Errorf("%s: same caller %v, same user %v, want %v, %v", test.name, i == id, u == tenant, test.sameCaller, test.sameUser)
		}
	}
	for _, nobody := range []any{nil, ""} {
		a, _ := caller(k, value, jwt.MapClaims{"sub": nobody, "searchRules": rules, "exp": exp(1)})
		if b, _ := caller(k, value, jwt.MapClaims{"sub": nobody, "searchRules": rules, "exp": exp(2)}); a == b {
			t.Errorf("two tokens with sub %v are one caller", nobody)
		}
	}
}

// A token is good for no more than its key.
func TestTenantOfANarrowKey(t *testing.T) {
	s := open(t, master, newClock())
	k, value := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	caller, err := s.Authenticate("Bearer " + sign(t, jwt.SigningMethodHS256, []byte(value), jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": []string{"a", "b*"}}))
	if err != nil {
		t.Fatal(err)
	}
	if caller.Allows(auth.ChatCompletions) || !caller.Allows(auth.Search) {
		t.Error("a token of a search key may do other than search")
	}
	for uid, want := range map[string]bool{"a": true, "aa": false, "b": true, "bb": true, "c": false} {
		if _, ok := caller.Index(uid); ok != want {
			t.Errorf("Index(%q) = %v, want %v", uid, ok, want)
		}
	}
	none, err := s.Authenticate("Bearer " + sign(t, jwt.SigningMethodHS256, []byte(value), jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": []string{}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := none.Index("a"); ok {
		t.Error("a token without rules may use an index")
	}
}

// Keys and tokens go by the date, whatever it was before: one that ended while
// the clock was a year ahead is good again, since nothing is thrown away.
func TestClockJumps(t *testing.T) {
	c := newClock()
	s := open(t, master, c)
	k, key := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}, ExpiresAt: new("2026-11-21T05:30:00Z")})
	token := sign(t, jwt.SigningMethodHS256, []byte(key), jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": []string{"*"}, "exp": c.t.Add(time.Minute).Unix()})
	late := sign(t, jwt.SigningMethodHS256, []byte(key), jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": []string{"*"}, "nbf": c.t.Unix()})
	const year = 365 * 24 * time.Hour
	for _, tt := range []struct {
		by               time.Duration
		key, token, late string // what the refusal says; empty: passes
	}{
		{0, "", "", ""},
		{year, "expired", "expired", "expired"},
		{-year - 24*time.Hour, "", "", "good from"},
		{24 * time.Hour, "", "", ""},
	} {
		c.t = c.t.Add(tt.by)
		for token, want := range map[string]string{key: tt.key, token: tt.token, late: tt.late} {
			_, err := s.Authenticate("Bearer " + token)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("at %v: error %v, want %q", c.t, err, want)
			}
		}
	}
}

func TestTenantErrors(t *testing.T) {
	c := newClock()
	s := open(t, master, c)
	k, value := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	_, other := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	brief, briefValue := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}, ExpiresAt: new("2026-11-21T05:30:00Z")})
	claims := func(name string, v any) jwt.MapClaims {
		m := jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": []string{"*"}}
		if v == nil {
			delete(m, name)
		} else {
			m[name] = v
		}
		return m
	}
	good := sign(t, jwt.SigningMethodHS256, []byte(value), claims("", 0))
	parts := strings.Split(good, ".")
	elsewhere := sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", []string{"secret"}))
	tests := []struct{ name, token, message string }{
		{"another key's signature", sign(t, jwt.SigningMethodHS256, []byte(other), claims("", 0)), "not signed"},
		{"the master key's signature", sign(t, jwt.SigningMethodHS256, []byte(master), claims("", 0)), "not signed"},
		{"empty signature", parts[0] + "." + parts[1] + ".", "not signed"},
		{"another body", parts[0] + "." + strings.Split(elsewhere, ".")[1] + "." + parts[2], "not signed"},
		{"no algorithm", sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims("", 0)), "not signed"},
		{"unknown key", sign(t, jwt.SigningMethodHS256, []byte(value), claims("apiKeyUid", "00000000-0000-4000-8000-000000000000")), "not signed"},
		{"no apiKeyUid", sign(t, jwt.SigningMethodHS256, []byte(value), claims("apiKeyUid", nil)), "not signed"},
		{"apiKeyUid of another type", sign(t, jwt.SigningMethodHS256, []byte(value), claims("apiKeyUid", 7)), "not a JWT"},
		{"no rules", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", nil)), "searchRules must be"},
		{"null rules", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", (*int)(nil))), "searchRules must be"},
		{"rules of another type", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", "*")), "searchRules must be"},
		{"numbers as rules", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", []int{1})), "searchRules must be"},
		{"no pattern", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", []string{"a b"})), "\"a b\" is not an index pattern"},
		{"rule of another type", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", map[string]any{"a": "x"})), "searchRules for \"a\""},
		{"unknown rule", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", map[string]any{"a": map[string]any{"filtre": "x"}})), "nothing but a filter"},
		{"filter of another type", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", map[string]any{"a": map[string]any{"filter": 7}})), "filter must be"},
		{"empty filter", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", map[string]any{"a": map[string]any{"filter": ""}})), "filter is empty or has an empty part"},
		{"blank filter", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", map[string]any{"a": map[string]any{"filter": " \t\n"}})), "filter is empty"},
		{"filter of nothing", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", map[string]any{"a": map[string]any{"filter": []any{}}})), "filter is empty"},
		{"filter of an empty text", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", map[string]any{"a": map[string]any{"filter": []any{""}}})), "filter is empty"},
		{"filter of an empty choice", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", map[string]any{"a": map[string]any{"filter": []any{[]any{}}}})), "filter is empty"},
		{"filter with an empty part", sign(t, jwt.SigningMethodHS256, []byte(value), claims("searchRules", map[string]any{"a": map[string]any{"filter": []any{"x = 1", []any{"y = 1", ""}}}})), "filter is empty or has an empty part"},
		{"limits of another type", sign(t, jwt.SigningMethodHS256, []byte(value), claims("limits", 7)), "limits` must be an object or null"},
		{"unknown limit", sign(t, jwt.SigningMethodHS256, []byte(value), claims("limits", map[string]any{"countSearch": true})), "Unknown field `limits.countSearch`"},
		{"expired", sign(t, jwt.SigningMethodHS256, []byte(value), claims("exp", c.t.Add(-time.Second).Unix())), "expired at 2026-11-21T04:59:59Z"},
		{"not yet", sign(t, jwt.SigningMethodHS256, []byte(value), claims("nbf", c.t.Add(time.Minute).Unix())), "good from 2026-11-21T05:01:00Z"},
		{"exp of another type", sign(t, jwt.SigningMethodHS256, []byte(value), claims("exp", "soon")), "not a JWT"},
		{"no base64", "a.b.c", "not a JWT"},
		{"long", strings.Repeat("a", 10000) + "." + strings.Repeat("b", 10000) + ".c", "not a JWT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Authenticate("Bearer " + tt.token)
			e := apierr.From(err)
			if e == nil || e.Code != apierr.InvalidAPIKey || !strings.Contains(e.Message, tt.message) {
				t.Fatalf("Authenticate: error %v, want %s with %q", err, apierr.InvalidAPIKey, tt.message)
			}
			for _, secret := range []string{tt.token, value, other, master} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("error %v holds a secret", err)
				}
			}
		})
	}

	token := sign(t, jwt.SigningMethodHS256, []byte(briefValue), jwt.MapClaims{"apiKeyUid": brief.UID, "searchRules": []string{"*"}})
	if _, err := s.Authenticate("Bearer " + token); err != nil {
		t.Errorf("Authenticate before the key expires: %v", err)
	}
	c.t = c.t.Add(time.Hour)
	if _, err := s.Authenticate("Bearer " + token); !apierr.Is(err, apierr.InvalidAPIKey) {
		t.Errorf("Authenticate after the key expired: error %v, want %s", err, apierr.InvalidAPIKey)
	}
	if err := s.Delete(t.Context(), k.UID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate("Bearer " + good); !apierr.Is(err, apierr.InvalidAPIKey) {
		t.Errorf("Authenticate after the key was deleted: error %v, want %s", err, apierr.InvalidAPIKey)
	}
}

// Without a secret to sign with, a token signed with nothing must not pass.
func TestTenantWithoutMasterKey(t *testing.T) {
	s := open(t, "", newClock())
	keys, _ := s.Keys(0, 1)
	token := sign(t, jwt.SigningMethodHS256, []byte{}, jwt.MapClaims{"apiKeyUid": keys[0].UID, "searchRules": []string{"a"}})
	caller, err := s.Authenticate("Bearer " + token)
	if err != nil || !caller.Allows(auth.KeysGet) {
		t.Errorf("Authenticate on an open host = %v, %v, want everyone", caller, err)
	}
}

func FuzzAuthenticate(f *testing.F) {
	s := open(f, master, newClock())
	f.Add("Bearer x")
	f.Add("Bearer eyJhbGciOiJub25lIn0.e30.")
	f.Add("Bearer a.b.c")
	f.Fuzz(func(t *testing.T, header string) {
		caller, err := s.Authenticate(header)
		if err == nil && !strings.Contains(header, master) {
			t.Errorf("Authenticate(%q) = %v, want an error", header, caller)
		}
		if err != nil && apierr.From(err).Code == apierr.Internal {
			t.Errorf("Authenticate(%q): %v, want an Error of a client's", header, err)
		}
	})
}

// TestTenantAmbiguousClaims refuses claims and rules that readers of JSON take for
// different things.
func TestTenantAmbiguousClaims(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, master, c)
	k, value := create(t, s, auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	for _, claims := range []string{
		`"searchRules":{"a":{"filter":"x = 1"}},"searchRules":["*"]`,
		`"searchrules":["*"]`,
		`"searchRules":{"a":{"filter":"x = 1"},"a":null}`,
		`"searchRules":{"a":{"filter":"x = 1","filter":null}}`,
		`"searchRules":{"a":{"Filter":"x = 1"}}`,
		`"searchRules":["*"],"limits":{"parallel":1,"parallel":null}`,
		`"searchRules":["*"],"exp":1,"exp":99999999999`,
	} {
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, rawClaims(`{"apiKeyUid":"`+k.UID+`",`+claims+`}`)).SignedString([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticate("Bearer " + token); !apierr.Is(err, apierr.InvalidAPIKey) {
			t.Errorf("Authenticate with %s = %v, want %s", claims, err, apierr.InvalidAPIKey)
		}
	}
}

// rawClaims are claims as they are written.
type rawClaims string

func (r rawClaims) MarshalJSON() ([]byte, error)               { return []byte(r), nil }
func (rawClaims) GetExpirationTime() (*jwt.NumericDate, error) { return nil, nil }
func (rawClaims) GetNotBefore() (*jwt.NumericDate, error)      { return nil, nil }
func (rawClaims) GetIssuedAt() (*jwt.NumericDate, error)       { return nil, nil }
func (rawClaims) GetIssuer() (string, error)                   { return "", nil }
func (rawClaims) GetSubject() (string, error)                  { return "", nil }
func (rawClaims) GetAudience() (jwt.ClaimStrings, error)       { return nil, nil }
