package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// tenantActions are all that a tenant token can be good for.
var tenantActions = []Action{Search, ChatCompletions}

// claims are those of a tenant token. What else it holds is not our concern.
type claims struct {
	APIKeyUID   string
	SearchRules json.RawMessage
	Limits      json.RawMessage
	User        json.RawMessage // sub
	Expires     *jwt.NumericDate
	Starts      *jwt.NumericDate
}

// UnmarshalJSON reads claims by their exact names, each once: package json would take
// any case of a name, and the last of two.
func (c *claims) UnmarshalJSON(b []byte) error {
	into := map[string]any{"apiKeyUid": &c.APIKeyUID, "searchRules": &c.SearchRules, "limits": &c.Limits, "sub": &c.User, "exp": &c.Expires, "nbf": &c.Starts}
	m, ok := rawjson.MembersOf(b)
	if !ok {
		return errors.New("the claims are not an object")
	}
	seen := map[string]bool{}
	for m.Next() {
		name, _ := rawjson.String(m.Key)
		if seen[name] {
			return fmt.Errorf("the claim %.64q comes twice", name)
		}
		seen[name] = true
		if field := into[name]; field != nil {
			if err := json.Unmarshal(m.Value, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// The methods of [jwt.Claims].
func (c *claims) GetExpirationTime() (*jwt.NumericDate, error) { return c.Expires, nil }
func (c *claims) GetNotBefore() (*jwt.NumericDate, error)      { return c.Starts, nil }
func (c *claims) GetIssuedAt() (*jwt.NumericDate, error)       { return nil, nil }
func (c *claims) GetIssuer() (string, error)                   { return "", nil }
func (c *claims) GetSubject() (string, error)                  { return "", nil }
func (c *claims) GetAudience() (jwt.ClaimStrings, error)       { return nil, nil }

var errUnknownKey = errors.New("its apiKeyUid names no key of this host")

// tenant returns the caller that a tenant token describes: as far as both the
// key that signed it and its own rules go.
func (s *Service) tenant(token string) (*Caller, error) {
	var c claims
	var signer *entry
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256", "HS384", "HS512"}), jwt.WithTimeFunc(s.now))
	_, err := parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) {
		s.mu.RLock()
		signer = s.byUID[c.APIKeyUID]
		s.mu.RUnlock()
		if signer == nil {
			return nil, errUnknownKey
		}
		return []byte(signer.value), nil
	})
	if err != nil {
		return nil, refused(err, &c)
	}
	if err := s.checkExpiry(&signer.key); err != nil {
		return nil, err
	}
	rules, err := parseRules(c.SearchRules)
	if err != nil {
		return nil, apierr.Newf(apierr.InvalidAPIKey, "The tenant token is refused: %v.", err)
	}
	payer := signer.caller.payer
	user, id := c.identity(token, rules)
	payer.Tenant = user
	if c.Limits != nil {
		if payer.Token, err = limit.OfToken(c.Limits); err != nil {
			return nil, apierr.Newf(apierr.InvalidAPIKey, "The tenant token is refused: its claim limits is wrong: %s", apierr.From(err).Message)
		}
	}
	caller := &Caller{
		actions: make(map[Action]bool), indexes: signer.caller.indexes, spaces: signer.caller.spaces, payer: payer, rules: rules,
		id: "tenant token " + id, key: signer.key.UID, expires: signer.key.ExpiresAt,
	}
	if c.Expires != nil && (caller.expires == nil || c.Expires.Before(*caller.expires)) {
		caller.expires = new(c.Expires.UTC())
	}
	for _, a := range tenantActions {
		caller.actions[a] = signer.caller.Allows(a)
	}
	return caller, nil
}

// identity tells whose the token is, for limits, and which caller it makes. A token
// that names its user in sub is the same client as another one that does. It is the
// same caller too, one that finds what was kept for the other, where both have the
// same rules: those with fewer rights must not see what came of more. A token without
// sub is a client and a caller of its own.
func (c *claims) identity(token string, rules *searchRules) (user, id string) {
	if len(c.User) == 0 || rawjson.IsNull(c.User) || string(c.User) == `""` {
		user = digest("token", token)
		return user, user
	}
	filters, err := json.Marshal(rules.filters)
	if err != nil {
		panic(fmt.Sprintf("encode search rules: %v", err)) // they were read as JSON
	}
	user = digest("user", c.APIKeyUID, string(c.User))
	return user, digest("caller", user, string(filters))
}

// digest is a hash of texts that no other texts have.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// refused says why a token did not pass. A token whose signature was not
// verified learns no more than that.
func refused(err error, c *claims) error {
	why := "it is not a JWT that this host can read; it takes HS256, HS384 and HS512 with the claims apiKeyUid and searchRules"
	switch {
	case errors.Is(err, errUnknownKey), errors.Is(err, jwt.ErrTokenSignatureInvalid) && c.APIKeyUID != "":
		why = "it is not signed, by HS256, HS384 or HS512, with the API key that its apiKeyUid names"
	case errors.Is(err, jwt.ErrTokenExpired):
		why = "it expired at " + c.Expires.UTC().Format(time.RFC3339)
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		why = "it is good from " + c.Starts.UTC().Format(time.RFC3339)
	}
	return &apierr.Error{Code: apierr.InvalidAPIKey, Message: "The tenant token is refused: " + why + ".", Err: err}
}
