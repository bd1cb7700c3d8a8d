package cmdutil

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// clientOptions are the options of the host by which a client finds it and says
// who asks.
var clientOptions = []string{"http-addr", "master-key", "ssl-cert-path", "db-path"}

// ClientFlags gives cmd the flags by which [OpenClient] finds the service; rights
// are what the key must allow.
func ClientFlags(cmd *cobra.Command, rights string) *cobra.Command {
	AddressFlags(cmd)
	f := cmd.Flags()
	f.String("key", "", "API key that allows "+rights+" (default: $"+KeyEnv+", or master_key of the configuration file)")
	f.String("key-file", "", "file whose first line is that key")
	return cmd
}

// AddressFlags gives cmd the flags that say where the service is, and how it is trusted.
func AddressFlags(cmd *cobra.Command) *cobra.Command {
	f := cmd.Flags()
	f.String(FlagURL, "", "address of the service (default: http_addr of the configuration, as a rule "+defaultURL+")")
	TLSFlags(f)
	f.String(FlagConfigFile, "", ConfigFileMeaning)
	return cmd
}

// A Client asks a running service.
type Client struct {
	URL, Key string
	http     *http.Client // nil: the default one
	keyFrom  string       // what names the key, for an error; empty where nobody gave one
	nearby   []string     // data directories of services that may run where this one does not
}

// OpenClient is the service that flags, environment and configuration file name.
func OpenClient(cmd *cobra.Command) (*Client, error) {
	c, err := LoadOnly(cmd, clientOptions)
	if err != nil {
		return nil, err
	}
	key, _ := cmd.Flags().GetString("key")
	if file, _ := cmd.Flags().GetString("key-file"); file != "" {
		if key != "" {
			return nil, UsageError{Err: errors.New("--key and --key-file are both given: keep one")}
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, UsageError{Err: fmt.Errorf("--key-file: %w", err)}
		}
		key, _, _ = strings.Cut(string(b), "\n")
		if key = strings.TrimSpace(key); key == "" {
			return nil, UsageError{Err: fmt.Errorf("--key-file %s holds no key in its first line", file)}
		}
	}
	base, err := serviceURL(cmd, c)
	if err != nil {
		return nil, err
	}
	by, err := httpClient(cmd.Flags(), c)
	if err != nil {
		return nil, err
	}
	return &Client{
		URL: base, http: by, Key: cmp.Or(key, c.MasterKey.Reveal()), keyFrom: "--key, --key-file or $" + KeyEnv,
		nearby: []string{QuickstartData(), c.DBPath},
	}, nil
}

// serviceURL is the address that --url names, or else where a service of the
// configuration c listens.
func serviceURL(cmd *cobra.Command, c config.Config) (string, error) {
	given, _ := cmd.Flags().GetString(FlagURL)
	if given == "" && c.TLS.Cert != "" {
		given = "https://" + reachable(c.HTTPAddr)
	}
	return ServiceURL(cmp.Or(given, "http://"+reachable(c.HTTPAddr)))
}

// reachable is where a client of this machine finds what listens on addr, which may be all addresses.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if at, wrong := netip.ParseAddr(host); err == nil && (host == "" || wrong == nil && at.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

// A Body is the body of a request that is not one JSON value.
type Body struct {
	io.Reader
	Size        int64 // bytes
	ContentType string
}

// NDJSON is a body of JSON values, one a line.
func NDJSON(b []byte) Body { return Body{bytes.NewReader(b), int64(len(b)), "application/x-ndjson"} }

// bodyOf is body as it is sent: a [Body] as it is, anything else but nil as JSON.
func bodyOf(body any) (Body, error) {
	if b, ok := body.(Body); ok || body == nil {
		return b, nil
	}
	var sent bytes.Buffer
	if err := json.NewEncoder(&sent).Encode(body); err != nil {
		return Body{}, fmt.Errorf("encode request: %w", err)
	}
	return Body{&sent, int64(sent.Len()), "application/json"}, nil
}

// Open sends a request, whose body is a [Body], a value that is sent as JSON, or nil, and
// returns an answer that is a success. An error has the service's message.
func (c *Client) Open(ctx context.Context, method, path string, body any) (*http.Response, error) {
	sent, err := bodyOf(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, sent.Reader)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if body != nil {
		req.ContentLength = sent.Size
		req.Header.Set("Content-Type", sent.ContentType)
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	resp, err := cmp.Or(c.http, http.DefaultClient).Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // the rest of it says the address again
		}
		if url := c.elsewhere(ctx); url != "" {
			return nil, fmt.Errorf("no service answers at %s, but one does at %s: add --%s %s", c.URL, url, FlagURL, url)
		}
		return nil, fmt.Errorf("no service answers at %s: %w: start one with `parley quickstart` or `parley serve`, or say where it is with --%s", c.URL, err, FlagURL)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // what is cut off has no message
	var e struct {
		Message, Code string
		Error         struct{ Message, Code string }
	}
	if json.Unmarshal(said, &e) != nil || e.Message == "" && e.Error.Message == "" {
		e.Message = "no service of this kind answers there"
	}
	e.Message = StripControls(cmp.Or(e.Message, e.Error.Message))
	if c.keyFrom != "" && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) {
		e.Message += " (" + c.keyFrom + " says who asks)"
	}
	return nil, &StatusError{resp.StatusCode, cmp.Or(e.Code, e.Error.Code), e.Message}
}

// elsewhere is where a service of this machine runs that was not asked; "": none is
// found.
func (c *Client) elsewhere(ctx context.Context) string {
	for _, dir := range c.nearby {
		if _, url := RunningIn(ctx, dir); url != "" && url != c.URL {
			return url
		}
	}
	return ""
}

// RunningIn returns the process that serves with the data directory dir, and its URL;
// empty: nobody does.
func RunningIn(ctx context.Context, dir string) (pid, url string) {
	pid, url = store.ReadHolder(dir)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if url == "" || (&Client{URL: url}).Call(ctx, http.MethodGet, "/health", nil, new(any)) != nil {
		return "", "" // what the file says is of a process that has ended
	}
	return pid, url
}

// QuickstartData is where quickstart keeps its data.
func QuickstartData() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "parley", "quickstart")
}

// MaxAnswer bounds an answer of the service that is read as a whole.
const MaxAnswer = 64 << 20

// Call is Open for an answer that is one JSON value.
func (c *Client) Call(ctx context.Context, method, path string, body, into any) error {
	resp, err := c.Open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, MaxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	return nil
}

// A StatusError is what the service says of a request that it refuses.
type StatusError struct {
	Status        int
	Code, Message string
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Message) }

// KeyEnv is where a key is taken from that must not stand in a command line.
const KeyEnv = config.EnvPrefix + "MASTER_KEY"

// FlagURL is the flag that says where the service is.
const FlagURL = "url"
