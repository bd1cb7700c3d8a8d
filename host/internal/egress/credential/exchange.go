package credential

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/oauth2/jwt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// maxTokenAnswer bounds what is read of a token server's answer.
const maxTokenAnswer = 64 << 10

// An exchange asks a token server for a token.
type exchange struct {
	host string            // of the server, for errors
	of   [sha256.Size]byte // of all that it depends on
	ask  func(ctx context.Context) (*oauth2.Token, error)
}

// newExchange prepares the exchange that a says, with the values of f.
func (t *tokens) newExchange(a *abi.Auth, f *filled) (*exchange, error) {
	if a.Scheme == abi.AuthToken {
		return t.newTokenExchange(a, f)
	}
	scopes := make([]string, len(a.Scopes))
	for i, s := range a.Scopes {
		scopes[i] = f.text("scopes", s)
	}
	if a.Scheme == abi.AuthGCPServiceAccount {
		return t.newGoogleExchange(f.text("credentials", a.Credentials), scopes, f)
	}
	c := clientcredentials.Config{
		ClientID: f.text("clientId", a.ClientID), ClientSecret: f.text("clientSecret", a.ClientSecret),
		TokenURL: f.text("tokenUrl", a.TokenURL), Scopes: scopes, EndpointParams: url.Values{},
		AuthStyle: oauth2.AuthStyleInParams,
	}
	for name, value := range a.Parameters {
		c.EndpointParams.Set(name, f.text("parameters", value))
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	u, err := parseTokenURL(c.TokenURL)
	if err != nil {
		return nil, err
	}
	return &exchange{u.Host, sum([]any{c.ClientID, c.ClientSecret, c.TokenURL, scopes, c.EndpointParams}), c.Token}, nil
}

// parseTokenURL reads the URL that options have made.
func parseTokenURL(s string) (*url.URL, error) {
	u, err := outbound.ParseURL(s, outbound.URLRules{Query: true})
	if err != nil {
		return nil, refused("the options make a tokenUrl of the plugin's auth that %v", err)
	}
	return u, nil
}

// newGoogleExchange reads a service account's key file. Nothing that it says of
// where to go is heeded.
func (t *tokens) newGoogleExchange(file string, scopes []string, f *filled) (*exchange, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	var key struct {
		Type         string `json:"type"`
		ClientEmail  string `json:"client_email"`
		PrivateKey   string `json:"private_key"`
		PrivateKeyID string `json:"private_key_id"`
	}
	switch err := json.Unmarshal([]byte(file), &key); {
	case err != nil:
		return nil, unusable("the service account's key file is not JSON: set the text of the whole file")
	case key.Type != "service_account":
		return nil, unusable("the key file is of type %.40q, and only service_account is supported: make a key of a service account", key.Type)
	case key.ClientEmail == "" || key.PrivateKey == "":
		return nil, unusable("the service account's key file lacks client_email or private_key: set the text of the whole file")
	}
	c := jwt.Config{Email: key.ClientEmail, PrivateKey: []byte(key.PrivateKey), PrivateKeyID: key.PrivateKeyID, Scopes: scopes, TokenURL: t.google, Audience: t.google}
	u, err := url.Parse(t.google)
	if err != nil {
		return nil, fmt.Errorf("read Google's token URL: %w", err)
	}
	return &exchange{u.Host, sum([]any{file, scopes}), func(ctx context.Context) (*oauth2.Token, error) { return c.TokenSource(ctx).Token() }}, nil
}

// run asks through t's transport. A redirect is an answer like others, and not
// followed: it would take the credentials elsewhere.
func (x *exchange) run(ctx context.Context, t *tokens) (*oauth2.Token, error) {
	client := &http.Client{
		Transport:     bounded{ctx, t.transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	token, err := x.ask(context.WithValue(ctx, oauth2.HTTPClient, client))
	switch {
	case err != nil:
	case token.AccessToken == "" || !isFieldValue(token.AccessToken):
		err = errors.New("the answer has no access token that a header can carry")
	case token.Expiry.IsZero() && token.Extra("expires_in") != nil && token.Extra("expires_in") != "":
		// 0, which the libraries take for unsaid: it is good for this request. An answer that is a
		// form has "" where it says nothing.
		token.Expiry = time.Now()
	}
	return token, err
}

// bounded reads no more of an answer than a token may need, and ends with ctx:
// the libraries do not pass it on everywhere.
type bounded struct {
	ctx context.Context
	by  http.RoundTripper
}

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.by.RoundTrip(req.WithContext(b.ctx))
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxTokenAnswer), resp.Body}
	return resp, nil
}

// errorCode is what RFC 6749 allows of an error's code, and no sentence fits.
var errorCode = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// skew is from where on two clocks differ so much that servers refuse a signed
// time.
const skew = time.Minute

// failure says why there is no token: by host and code alone, since a
// description may repeat what was sent.
func (x *exchange) failure(ctx context.Context, err error, now time.Time) error {
	if ctx.Err() != nil {
		return &outbound.Error{Kind: outbound.Timeout, Message: fmt.Sprintf("%s gave no token in time", x.host), Err: ctx.Err()}
	}
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		if _, ok := errors.AsType[*url.Error](err); ok {
			return &outbound.Error{Kind: outbound.Connect, Message: x.host + ", which gives tokens, was not reached; the host's log has the cause", Err: errors.Unwrap(err)}
		}
		return &outbound.Error{Kind: outbound.Unauthorized, Message: x.host + " gave no token: its answer or the workspace's credentials cannot be read"}
	}
	code := answer.ErrorCode
	for _, name := range []string{"error", "errorCode", "code"} {
		var said map[string]json.RawMessage
		if code == "" && json.Unmarshal(answer.Body, &said) == nil {
			_ = json.Unmarshal(said[name], &code) // what is no string is no code
		}
	}
	message := x.host + " gave no token"
	if answer.Response != nil {
		message += fmt.Sprintf(", with status %d", answer.Response.StatusCode)
	}
	if errorCode.MatchString(code) {
		message += " and error " + code
	}
	if answer.Response != nil {
		if date, err := http.ParseTime(answer.Response.Header.Get("Date")); err == nil && now.Sub(date).Abs() > skew {
			message += fmt.Sprintf("; its clock and the host's differ by %s: set the host's", now.Sub(date).Abs().Round(time.Second))
		}
	}
	kind := outbound.Unauthorized
	if answer.Response != nil && answer.Response.StatusCode/100 == 5 {
		kind = outbound.Broken
	}
	return &outbound.Error{Kind: kind, Message: message}
}
