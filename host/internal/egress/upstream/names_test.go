package upstream

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/egress/upstream/upstreamtest"
)

// TestNames checks that addresses are judged after a name was resolved.
func TestNames(t *testing.T) {
	l := say(t, toEnd+"data: a\n\n")
	port := l.url[strings.LastIndexByte(l.url, ':'):]
	resolver := names(t, map[string][]string{
		"metadata.test":  {"169.254.169.254"},
		"six.test":       {"fd00:ec2::254"},
		"mapped.test":    {"::ffff:169.254.169.254"},
		"localhost.test": {"127.0.0.1"},
		"lan.test":       {"10.1.2.3"},
	})
	tests := []struct {
		host string
		own  bool // the workspace's own baseUrl names it
		kind outbound.ErrorKind
		text string
	}{
		{"metadata.test", true, outbound.Refused, "metadata.test" + port + " is at a link-local or metadata address"},
		{"metadata.test", false, outbound.Refused, "metadata"},
		{"six.test", true, outbound.Refused, "metadata"},
		{"mapped.test", true, outbound.Refused, "metadata"},
		{"169.254.169.254", true, outbound.Refused, "metadata"},
		{"[::ffff:169.254.169.254]", true, outbound.Refused, "metadata"},
		{"[64:ff9b::a9fe:a9fe]", true, outbound.Refused, "metadata"},
		{"localhost.test", false, outbound.Refused, "localhost.test" + port + " is at a private address"},
		{"lan.test", false, outbound.Refused, "private"},
		{"127.0.0.1", false, outbound.Refused, "private"},
		{"localhost.test", true, "", ""},
		{"absent.test", true, outbound.Connect, "absent.test" + port + " was not reached"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.host, " own ", tt.own), func(t *testing.T) {
			c := client(t, Options{Resolver: resolver})
			out := to("http://" + tt.host + port)
			out.Secrets = map[string]string{"apiKey": apiKey}
			out.Encoded.Headers = map[string]string{"Authorization": "${apiKey}"}
			if !tt.own {
				out.Grants.HTTP, out.BaseURL = []string{"http://" + tt.host + port}, "http://other.test"
			}
			got, err := get(t, c, out)
			if tt.kind == "" {
				if err != nil || len(got) != 1 {
					t.Errorf("%d events, error %v; want 1, none", len(got), err)
				}
				return
			}
			wantError(t, err, tt.kind, tt.text, tt.kind == outbound.Connect)
			for _, address := range []string{"10.1.2.3", "fd00:ec2", " on ", apiKey} {
				if strings.Contains(err.Error(), address) {
					t.Errorf("error %q holds %s", err, address)
				}
			}
		})
	}
}

// TestRebinding checks that a name that changes its address between two
// requests is judged by the one connected to.
func TestRebinding(t *testing.T) {
	table := map[string][]string{"turns.test": {"127.0.0.1"}}
	var mu sync.Mutex
	l := say(t, toEnd+"data: a\n\n")
	c := client(t, Options{Resolver: upstreamtest.Resolver(t, func(name string) ([]string, error) {
		mu.Lock()
		defer mu.Unlock()
		return table[name], nil
	})})
	out := to("http://turns.test" + l.url[strings.LastIndexByte(l.url, ':'):])
	if _, err := get(t, c, out); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	table["turns.test"] = []string{"169.254.169.254"}
	mu.Unlock()
	_, err := get(t, c, out)
	wantError(t, err, outbound.Refused, "metadata", false)
}

// names returns a resolver that knows a table of names.
func names(t *testing.T, table map[string][]string) *net.Resolver {
	return upstreamtest.Resolver(t, func(name string) ([]string, error) { return table[name], nil })
}
