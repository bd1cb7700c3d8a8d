package credential

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/answer"
	"github.com/parley-search/parley/abi/manifest"
)

// newTokenExchange prepares the request to a token server that a describes, whose answer
// is read by a template.
func (t *tokens) newTokenExchange(a *abi.Auth, f *filled) (*exchange, error) {
	u, err := parseTokenURL(f.text("tokenUrl", a.TokenURL))
	if err != nil {
		return nil, err
	}
	read, err := answer.ParseToken(a.TokenAnswer)
	if err != nil {
		return nil, refused("the plugin's tokenAnswer %v", err)
	}
	method, header, body := cmp.Or(a.TokenRequest.Method, http.MethodPost), http.Header{"Accept": {"application/json"}}, []byte(nil)
	switch {
	case a.TokenRequest.Form != nil:
		form := url.Values{}
		for _, name := range slices.Sorted(maps.Keys(a.TokenRequest.Form)) {
			form.Set(name, f.text("tokenRequest.form", a.TokenRequest.Form[name]))
		}
		body = []byte(form.Encode())
		header.Set("Content-Type", "application/x-www-form-urlencoded")
	case len(a.TokenRequest.JSON) > 0:
		var ok bool
		if body, ok = manifest.FillJSON(a.TokenRequest.JSON, f.values); !ok {
			f.missing = cmp.Or(f.missing, "tokenRequest.json")
		}
		header.Set("Content-Type", "application/json")
	}
	for _, name := range slices.Sorted(maps.Keys(a.TokenRequest.Headers)) {
		value := f.text("tokenRequest.headers", a.TokenRequest.Headers[name])
		if !isFieldValue(value) {
			return nil, unusable("a secret of the workspace holds a line end or another control character, which no header can carry; set it again")
		}
		header.Set(name, value)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	ask := func(ctx context.Context) (*oauth2.Token, error) {
		req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header = header.Clone()
		client, _ := ctx.Value(oauth2.HTTPClient).(*http.Client)
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(io.LimitReader(resp.Body, maxTokenAnswer))
		if err != nil {
			return nil, &url.Error{Op: method, URL: u.Host, Err: errors.New("its answer broke off")}
		}
		if resp.StatusCode/100 != 2 {
			return nil, &oauth2.RetrieveError{Response: resp, Body: said}
		}
		token, until, err := read.Read(said, t.now())
		if err != nil {
			return nil, err
		}
		return &oauth2.Token{AccessToken: strings.TrimSpace(token), Expiry: until}, nil
	}
	return &exchange{u.Host, sum([]any{method, u.String(), header, string(body), string(a.TokenAnswer)}), ask}, nil
}
