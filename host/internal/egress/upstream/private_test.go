package upstream_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/egress/export"
	"github.com/parley-search/parley/host/internal/egress/upstream"
)

// TestPrivateNetworks goes out in every way that the host has, to a server on
// this machine: only where that is allowed, and else the refusal names the option
// and nothing reached the server.
//
//parley:option allow-private-networks
func TestPrivateNetworks(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer srv.Close()
	base, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]func(ctx context.Context, o upstream.Options) error{
		"provider, embedder and remote": func(ctx context.Context, o upstream.Options) error {
			c := upstream.New(o)
			defer c.Close()
			out := &outbound.Request{BaseURL: srv.URL, Grants: abi.Grants{HTTP: []string{abi.GrantBaseURL}}, Encoded: &abi.EncodeResponse{URL: srv.URL + "/x"}}
			r, err := c.Do(ctx, out)
			if err == nil {
				r.Close()
			}
			return err
		},
		"export": func(ctx context.Context, o upstream.Options) error {
			all := upstream.NewTargets(o)
			defer all.Close()
			_, err := all.Target(base, secret.Text{}).Send(ctx, export.Request{Method: http.MethodGet, Path: "/"})
			return err
		},
		"webhook": func(ctx context.Context, o upstream.Options) error {
			w := upstream.NewWebhook(base, nil, o)
			defer w.Close()
			return w.Post(ctx, []byte("{}"))
		},
		"telemetry and traces": func(ctx context.Context, o upstream.Options) error {
			s, err := upstream.NewTelemetrySender(srv.URL, secret.Text{}, o)
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = s.Send(ctx, []byte("{}"))
			return err
		},
	}
	for name, send := range ways {
		for allowed, reaches := range map[string]bool{"": false, "10.0.0.0/8,::1": false, "any": true, "10.0.0.0/8,127.0.0.0/8": true, "127.0.0.1": true} {
			o := upstream.Options{}
			if allowed != "" {
				if o.Private, err = upstream.ParsePrivate(allowed); err != nil {
					t.Fatal(err)
				}
			}
			asked.Store(0)
			err := send(t.Context(), o)
			if (err == nil) != reaches || (asked.Load() == 1) != reaches {
				t.Errorf("%s, allowed %q: error %v, %d requests; want it to be reached: %v", name, allowed, err, asked.Load(), reaches)
			}
			if err != nil && !strings.Contains(err.Error(), "--allow-private-networks") {
				t.Errorf("%s, allowed %q: error %v, want the option in it", name, allowed, err)
			}
		}
	}
}

func TestParsePrivate(t *testing.T) {
	for in, want := range map[string]string{
		"any": "any", "10.1.2.3/8": "10.0.0.0/8", "127.0.0.1, fd00::/8": "127.0.0.1/32,fd00::/8",
	} {
		if p, err := upstream.ParsePrivate(in); err != nil || p.String() != want {
			t.Errorf("%q = %v, %v, want %s", in, p, err, want)
		}
	}
	for in, want := range map[string]string{
		"": `names ""`, "all": `names "all"`, "10.0.0.0/33": `names "10.0.0.0/33"`, "localhost": `names "localhost"`, "any,10.0.0.0/8": `names "any"`,
		"169.254.169.254": "metadata", "169.254.0.0/16": "metadata", "fe80::/64": "metadata", "::ffff:10.0.0.0/104": "IPv4",
	} {
		if _, err := upstream.ParsePrivate(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", in, err, want)
		}
	}
}
