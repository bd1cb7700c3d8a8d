package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/registry"
)

// Bounds of a download.
const (
	downloadTime = 5 * time.Minute
	maxRedirects = 5
)

// A Source is where a plugin is installed from.
type Source struct {
	Place  string // path, URL or reference, without the hash
	SHA256 string // expected of the module; empty: any
	url    *url.URL
	image  *registry.Reference // whose digest is not that of the module
}

var (
	formExpected = regexp.MustCompile(`^(.*)@(?:sha256:)?([0-9A-Fa-f]{64})$`)
	formNearly   = regexp.MustCompile(`@(sha256:[^/]*|[0-9A-Fa-f]{16,})$`)
)

// ParseSource takes FILE-or-URL[@sha256], or what [registry.ParseReference]
// reads, apart.
func ParseSource(s string) (Source, error) {
	src := Source{Place: s}
	if registry.IsReference(s) {
		r, err := registry.ParseReference(s)
		src.image = &r
		return src, err
	}
	if m := formExpected.FindStringSubmatch(s); m != nil {
		src.Place, src.SHA256 = m[1], strings.ToLower(m[2])
	} else if formNearly.MatchString(s) {
		return Source{}, fmt.Errorf("%q ends in what is not a sha256: one has 64 hexadecimal digits", cut(s))
	}
	if !strings.Contains(src.Place, "://") {
		return src, nil
	}
	u, err := outbound.ParseURL(src.Place, outbound.URLRules{Query: true, User: true})
	if err != nil {
		return Source{}, fmt.Errorf("what is to be installed is neither a file nor a URL that begins with https://, http://, oci:// or oci-layout://: it %w", err)
	}
	src.url = u
	return src, src.checkScheme(u)
}

// String is the source for messages and commands: without a password.
func (s Source) String() string {
	place := s.Place
	if s.url != nil {
		place = s.url.Redacted()
	}
	if s.SHA256 != "" {
		place += "@" + s.SHA256
	}
	return place
}

// checkScheme refuses a place that anybody on the way could answer for.
func (s Source) checkScheme(u *url.URL) error {
	if u.Scheme == "https" || s.SHA256 != "" || outbound.IsLoopback(u.Hostname()) && outbound.IsLoopback(s.url.Hostname()) {
		return nil
	}
	return fmt.Errorf("%s comes without encryption, so anybody on the way could change it: use https, or say which sha256 it must have (URL@sha256)", u.Redacted())
}

// A Fetched is a module that is not yet in a plugin directory.
type Fetched struct {
	Module, Signature []byte
	Place             string // as it was named, without a password, for messages
	// Origin is what the lock notes: where exactly it came from. A file has none.
	Origin string
}

func (d Dir) fetchFrom(ctx context.Context, source string) (*Fetched, error) {
	src, err := ParseSource(source)
	if err != nil {
		return nil, err
	}
	return d.Fetch(ctx, src)
}

// Fetch reads the module of s, and its signature where there is one; of a URL
// only where d wants one. What has not the expected hash is not returned.
func (d Dir) Fetch(ctx context.Context, s Source) (*Fetched, error) {
	if s.image != nil {
		return d.pull(ctx, *s.image)
	}
	module, signature, err := d.get(ctx, s)
	if err != nil {
		return nil, err
	}
	return &Fetched{module, signature, s.String(), s.origin()}, nil
}

// origin is the URL without what may be a secret in it.
func (s Source) origin() string {
	if s.url == nil {
		return ""
	}
	return (&url.URL{Scheme: s.url.Scheme, Host: s.url.Host, Path: s.url.Path, RawPath: s.url.RawPath}).String()
}

func (d Dir) get(ctx context.Context, s Source) (module, signature []byte, err error) {
	if s.url == nil {
		if module, err = plugin.ReadFile(s.Place); err != nil {
			return nil, nil, fmt.Errorf("read plugin: %w", err)
		}
		if signature, err = readSignature(s.Place); err != nil {
			return nil, nil, err
		}
		if err := s.expect(module); err != nil {
			return nil, nil, err
		}
		return module, signature, nil
	}
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	if module, err = d.download(ctx, s, s.url, MaxModule); err != nil {
		return nil, nil, err
	}
	if err := s.expect(module); err != nil {
		return nil, nil, err
	}
	if d.PublicKey == nil {
		return module, nil, nil
	}
	u := *s.url
	u.Path += signatureSuffix
	u.RawPath = ""
	signature, err = d.download(ctx, s, &u, MaxSignature)
	if st, ok := errors.AsType[*statusError](err); ok && st.code == http.StatusNotFound {
		return module, nil, nil // which Verify has a better sentence for
	}
	return module, signature, err
}

func (s Source) expect(module []byte) error {
	if found := hash(module); s.SHA256 != "" && found != s.SHA256 {
		where := s
		where.SHA256 = ""
		return fmt.Errorf("%s has sha256 %s, and %s was expected: nothing was kept; ask who publishes it which is right", where, found, s.SHA256)
	}
	return nil
}

// A statusError is an answer that is not the file.
type statusError struct {
	code int
	url  string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("download %s: the server answers %d %s", e.url, e.code, http.StatusText(e.code))
}

// download gets u, which may have at most most bytes.
func (d Dir) download(ctx context.Context, s Source, u *url.URL, most int64) ([]byte, error) {
	if d.Transport == nil {
		return nil, fmt.Errorf("download %s: nothing is downloaded here: give a file", u.Redacted())
	}
	client := http.Client{Transport: d.Transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if r.URL.Scheme != "https" && r.URL.Scheme != "http" {
			return errors.New("a redirect to what is not http")
		}
		return s.checkScheme(r.URL)
	}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("download %s: %w", u.Redacted(), err)
	}
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("download %s: %w", u.Redacted(), unwrapURL(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &statusError{resp.StatusCode, u.Redacted()}
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("download %s: %w", u.Redacted(), err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("download %s: it has over %d KiB, and may have no more", u.Redacted(), most>>10)
	}
	return b, nil
}

// unwrapURL leaves out the method and URL, which the caller has said.
func unwrapURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
