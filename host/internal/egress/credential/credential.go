// Package credential signs requests in to providers, by the schemes that a
// plugin's manifest may name: no plugin sees a secret, and no secret leaves but
// in the request that it signs or to the token server that the scheme names.
package credential

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// Options is how a [Signer] is made.
type Options struct {
	// Transport carries requests to token servers: it refuses addresses that no
	// request may go to. Required.
	Transport http.RoundTripper
	// Now is the clock; default [time.Now].
	Now func() time.Time
	// GoogleTokenURL is Google's token server; default the real one.
	GoogleTokenURL string
	// ExchangeTime bounds one exchange; default 10s.
	ExchangeTime time.Duration
}

// A Signer implements [outbound.Signer]. Safe for concurrent use.
type Signer struct {
	now    func() time.Time
	tokens *tokens
}

var _ outbound.Signer = (*Signer)(nil)

// New returns a Signer without tokens.
func New(o Options) *Signer {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Signer{
		now: o.Now,
		tokens: &tokens{
			now: o.Now, google: cmp.Or(o.GoogleTokenURL, manifest.GoogleTokenURL), limit: cmp.Or(o.ExchangeTime, 10*time.Second),
			transport: o.Transport, held: map[tokenKey]*heldToken{},
		},
	}
}

// Sign implements [outbound.Signer].
func (s *Signer) Sign(ctx context.Context, req *http.Request, body []byte, out *outbound.Request) (outbound.Signed, error) {
	a, values := out.Credential.Auth, out.Credential.Values
	if a == nil {
		return outbound.Signed{}, nil
	}
	f := filled{values: values}
	switch a.Scheme {
	case abi.AuthHeader:
		return f.setHeader(req, a.Header, f.text("value", a.Value))
	case abi.AuthQuery:
		return f.appendQuery(req, a.Parameter, f.text("value", a.Value))
	case abi.AuthBasic:
		user, password := f.text("username", a.Username), f.text("password", a.Password)
		if strings.Contains(user, ":") {
			return outbound.Signed{}, unusable("the user name holds a colon, which basic authentication cannot carry")
		}
		pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
		f.with(map[string]string{"pair": pair})
		return f.setHeader(req, cmp.Or(a.Header, "Authorization"), f.text("value", cmp.Or(a.Value, "Basic ${pair}")), pair)
	case abi.AuthAWSSigV4:
		return s.signAWS(ctx, req, body, a, &f)
	case abi.AuthGCPServiceAccount, abi.AuthOAuth2ClientCredentials, abi.AuthToken:
		token, drop, err := s.tokens.get(ctx, a, &f, out)
		if err != nil {
			return outbound.Signed{}, err
		}
		signed, err := f.setToken(req, a, token)
		signed.Drop = drop
		return signed, err
	case abi.AuthHMAC:
		return s.signHMAC(req, body, a, &f)
	case abi.AuthJWT:
		return s.signJWT(req, a, &f)
	}
	return outbound.Signed{}, refused("the plugin's manifest names a scheme %.40q that this host does not have", a.Scheme)
}

// filled puts values into the texts of an entry.
type filled struct {
	values  map[string]string
	missing string // the member of the first text that lacks one
}

func (f *filled) text(member, text string) string {
	s, ok := manifest.Fill(text, f.values)
	if !ok && f.missing == "" {
		f.missing = member
	}
	return s
}

// with has the host's own values stand for names from now on.
func (f *filled) with(made map[string]string) {
	all := maps.Clone(f.values)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, made)
	f.values = all
}

// setToken sets the header in which a has a token.
func (f *filled) setToken(req *http.Request, a *abi.Auth, token string) (outbound.Signed, error) {
	f.with(map[string]string{"token": token})
	return f.setHeader(req, cmp.Or(a.Header, "Authorization"), f.text("value", cmp.Or(a.Value, "Bearer ${token}")), token)
}

// check says that something is missing. The host has looked for that before.
func (f *filled) check() error {
	if f.missing != "" {
		return refused("a setting or option that %s of the plugin's auth names is not set", f.missing)
	}
	return nil
}

// setHeader sets a header that the plugin did not.
func (f *filled) setHeader(req *http.Request, name, value string, secrets ...string) (outbound.Signed, error) {
	if err := f.check(); err != nil {
		return outbound.Signed{}, err
	}
	name = http.CanonicalHeaderKey(name)
	if err := absent(req, name); err != nil {
		return outbound.Signed{}, err
	}
	if !isFieldValue(value) {
		return outbound.Signed{}, unusable("a secret of the workspace holds a line end or another control character, which no header can carry; set it again")
	}
	req.Header[name] = []string{value}
	return outbound.Signed{Secrets: secrets}, nil
}

// absent refuses a header of the plugin's that the host sets itself.
func absent(req *http.Request, name string) error {
	if _, ok := req.Header[name]; ok {
		return refused("the plugin set the header %.40q, which its auth in the manifest has the host set", name)
	}
	return nil
}

// appendQuery appends a parameter to the URL, whose own order stays.
func (f *filled) appendQuery(req *http.Request, name, value string) (outbound.Signed, error) {
	if err := f.check(); err != nil {
		return outbound.Signed{}, err
	}
	if req.URL.Query().Has(name) {
		return outbound.Signed{}, refused("the plugin set the parameter %.40q of the URL, which its auth in the manifest has the host set", name)
	}
	u := *req.URL
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += url.QueryEscape(name) + "=" + url.QueryEscape(value)
	req.URL = &u
	return outbound.Signed{}, nil
}

func isFieldValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func refused(format string, args ...any) error {
	return &outbound.Error{Kind: outbound.Refused, Message: fmt.Sprintf(format, args...)}
}

// unusable is the error for credentials of the workspace that nobody can be signed in with.
func unusable(format string, args ...any) error {
	return &outbound.Error{Kind: outbound.Unauthorized, Message: fmt.Sprintf(format, args...)}
}
