package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
)

// Bounds of what a registry, or a layout in a folder, may make us do.
const (
	maxTime       = 5 * time.Minute
	maxRedirects  = 5
	maxManifest   = 1 << 20
	maxSignature  = 16 << 10
	maxSignatures = 16 // by different keys, of one module
	maxPages      = 100
)

// A Client pulls and pushes modules.
type Client struct {
	// Transport is what registries are asked by; nil: not at all. It is also what
	// decides which addresses may be asked.
	Transport http.RoundTripper
	// MaxModule bounds a module, in bytes.
	MaxModule int64
}

// access is one repository as a client may use it, and who it signs in as.
type access struct {
	*remote.Repository
	idle func()
	user string // of docker's configuration, once it was asked for; empty: nobody
}

// repository prepares requests to r's registry. The login comes from docker's
// configuration, or from the credential helper that it names; that is read when
// the registry asks for a login.
func (c *Client) repository(r Reference) (*access, error) {
	if c.Transport == nil {
		return nil, fmt.Errorf("%s: nothing is downloaded here: give a file", r)
	}
	repo, err := remote.NewRepository(r.Host + "/" + r.Repository)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	a := &access{Repository: repo}
	client := &http.Client{Transport: encrypted{c.Transport, loopback(r.Host)}, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return nil // where to is for encrypted to judge
	}}
	a.idle = client.CloseIdleConnections
	repo.PlainHTTP = loopback(r.Host)
	repo.TagListMaxPages, repo.ReferrerListMaxPages = maxPages, maxPages
	repo.SkipReferrersGC = true // many registries let nobody delete
	repo.Client = &auth.Client{
		Client: client, Cache: auth.NewCache(), ClientID: "parley", Credential: a.credential,
		// The transport judges the address that is connected to, which no name can
		// change afterwards.
		BlockedRealmPrefixes: []netip.Prefix{},
	}
	return a, nil
}

// credential reads the login for hostport.
func (a *access) credential(ctx context.Context, hostport string) (auth.Credential, error) {
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return auth.EmptyCredential, &loginError{err}
	}
	c, err := credentials.Credential(store)(ctx, hostport)
	if err != nil {
		return auth.EmptyCredential, &loginError{err}
	}
	if c != auth.EmptyCredential {
		if a.user = c.Username; a.user == "" {
			a.user = "a token"
		}
	}
	return c, nil
}

// A loginError says that docker's configuration, or its helper, cannot be read.
type loginError struct{ err error }

func (e *loginError) Error() string {
	return "read the login from docker's configuration: " + e.err.Error()
}
func (e *loginError) Unwrap() error { return e.err }

// encrypted refuses requests that anybody on the way could read, be they to where
// a redirect or a demand for a login leads. Within this machine, plain says
// whether that is allowed: for a registry that is there itself.
type encrypted struct {
	http.RoundTripper
	plain bool
}

var errPlain = errors.New("it leads to an address without encryption, where anybody on the way could read and change what is sent")

func (e encrypted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && (r.URL.Scheme != "http" || !e.plain || !loopback(r.URL.Host)) {
		return nil, errPlain
	}
	return e.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections ends what [http.Client] asks to be ended.
func (e encrypted) CloseIdleConnections() {
	if t, ok := e.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

type errTooLarge struct{ most int64 }

func (e errTooLarge) Error() string {
	return fmt.Sprintf("it has over %d KiB, and may have no more", e.most>>10)
}
