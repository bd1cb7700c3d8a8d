package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
)

// clientOptions are the options of the host by which a client finds it and says
// who asks.
var clientOptions = []string{"http-addr", "master-key", "ssl-cert-path"}

// clientFlags gives cmd the flags by which [openClient] finds the service; rights
// are what the key must allow.
func clientFlags(cmd *cobra.Command, rights string) *cobra.Command {
	f := cmd.Flags()
	f.String(flagURL, "", "address of the service (default: http_addr of the configuration, as a rule "+defaultURL+")")
	f.String("key", "", "API key that allows "+rights+" (default: $"+keyEnv+", or master_key of the configuration file)")
	f.String("key-file", "", "file whose first line is that key")
	f.String(flagConfigFile, "", configFileMeaning)
	return cmd
}

// A client asks a running service.
type client struct{ url, key string }

// openClient is the service that flags, environment and configuration file name.
func openClient(cmd *cobra.Command) (*client, error) {
	c, err := loadOnly(cmd, clientOptions)
	if err != nil {
		return nil, err
	}
	given, _ := cmd.Flags().GetString(flagURL)
	key, _ := cmd.Flags().GetString("key")
	if file, _ := cmd.Flags().GetString("key-file"); file != "" {
		if key != "" {
			return nil, usageError{errors.New("--key and --key-file are both given: keep one")}
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, usageError{fmt.Errorf("--key-file: %w", err)}
		}
		key, _, _ = strings.Cut(string(b), "\n")
		if key = strings.TrimSpace(key); key == "" {
			return nil, usageError{fmt.Errorf("--key-file %s holds no key in its first line", file)}
		}
	}
	if given == "" {
		given = hostURL(c)
	}
	base, err := serviceURL(given)
	if err != nil {
		return nil, err
	}
	return &client{base, cmp.Or(key, c.MasterKey.Reveal())}, nil
}

// hostURL is where a service of the configuration c listens.
func hostURL(c host.Config) string {
	if c.TLS.Cert != "" {
		return "https://" + c.HTTPAddr
	}
	return "http://" + c.HTTPAddr
}

// open sends a request, whose body is JSON where there is one, and returns an
// answer that is a success. An error of the service is said in its words.
func (c *client) open(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, &sent)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // the rest of it says the address again
		}
		return nil, fmt.Errorf("no service answers at %s: %w: start it, or say where it is with --%s", c.url, err, flagURL)
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
	e.Message = stripControls(cmp.Or(e.Message, e.Error.Message))
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		e.Message += " (--key, --key-file or $" + keyEnv + " says who asks)"
	}
	return nil, &statusError{resp.StatusCode, cmp.Or(e.Code, e.Error.Code), e.Message}
}

// maxAnswer bounds an answer of the service that is read as a whole.
const maxAnswer = 64 << 20

// call is open for an answer that is one JSON value.
func (c *client) call(ctx context.Context, method, path string, body, into any) error {
	resp, err := c.open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	return nil
}

// A statusError is what the service says of a request that it refuses.
type statusError struct {
	status        int
	code, message string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.message) }

// keyEnv is where a key is taken from that must not stand in a command line.
const keyEnv = host.EnvPrefix + "MASTER_KEY"

const flagURL = "url"
