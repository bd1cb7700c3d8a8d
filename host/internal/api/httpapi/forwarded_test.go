package httpapi_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// Behind trusted proxies a client is whom the outermost of them names. What a client
// says of itself is never taken, nor is anything where no proxy is trusted.
//
//parley:option trusted-proxies
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	const one, two = "203.0.113.7", "203.0.113.8"
	tests := []struct {
		name, proxies string
		first, second []string // X-Forwarded-For, line by line
		same          bool     // both are one client
	}{
		{"nobody is trusted", "", []string{one}, []string{two}, true},
		{"another proxy is trusted", "10.0.0.0/8", []string{one}, []string{two}, true},
		{"two clients", "127.0.0.1/32", []string{one}, []string{two}, false},
		{"no header", "127.0.0.1/32", nil, nil, true},
		{"the client makes up an entry", "127.0.0.1/32", []string{"198.51.100.1, " + one}, []string{"198.51.100.2, " + one}, true},
		{"the client makes up a line", "127.0.0.1/32", []string{"198.51.100.1", one}, []string{"198.51.100.2", one}, true},
		{"the client names a proxy", "127.0.0.1/32,10.0.0.0/8", []string{"198.51.100.1, 10.0.0.5, " + one}, []string{"198.51.100.2, 10.0.0.5, " + one}, true},
		{"two proxies", "127.0.0.1/32,10.0.0.0/8", []string{one + ", 10.0.0.5"}, []string{two + ", 10.0.0.5"}, false},
		{"two proxies and an entry made up", "127.0.0.1/32,10.0.0.0/8", []string{"1.1.1.1, " + one + ", 10.0.0.5"}, []string{"2.2.2.2, " + one + ", 10.0.0.5"}, true},
		{"the second proxy is not trusted", "127.0.0.1/32", []string{one + ", 10.0.0.5"}, []string{two + ", 10.0.0.5"}, true},
		{"no address", "127.0.0.1/32", []string{one + ", unknown"}, []string{two + ", unknown"}, true},
		{"ports and forms", "127.0.0.1/32", []string{one + ":4711"}, []string{"[::ffff:" + one + "]:80"}, true},
		{"one network of IPv6", "127.0.0.1/32", []string{"2001:db8::1"}, []string{"2001:db8::2"}, true},
		{"two networks of IPv6", "127.0.0.1/32", []string{"2001:db8::1"}, []string{"2001:db8:1::1"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var proxies []netip.Prefix
			for p := range strings.SplitSeq(tt.proxies, ",") {
				if p != "" {
					proxies = append(proxies, netip.MustParsePrefix(p))
				}
			}
			r := newRig(t, wish{site: httpapi.Site{Proxies: proxies}})
			_, key := r.limited(`{"requestsPerMinute":1,"perClient":true}`)
			from := func(lines []string) []string {
				return []string{"Authorization", key, "X-Forwarded-For", strings.Join(lines, "\n")}
			}
			want := 200
			if tt.same {
				want = 429
			}
			if a := r.do("POST", completions, hello, from(tt.first)...); a.status != 200 {
				t.Fatalf("first = %d %s", a.status, a.body)
			}
			if a := r.do("POST", completions, hello, from(tt.second)...); a.status != want {
				t.Errorf("second = %d %s, want %d", a.status, a.body, want)
			}
		})
	}
}

// Every way into a chat knows the client behind the proxy.
func TestTrustedProxiesEverywhere(t *testing.T) {
	r := newRig(t, wish{site: httpapi.Site{Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	for _, ask := range [][2]string{
		{completions, hello},
		{"/v1/chat/completions", helloV1},
		{"/v1/chat/completions", strings.Replace(helloV1, "{", `{"stream":true,`, 1)},
		{responsesV1, `{"model":"demo/m","input":"a"}`},
	} {
		_, key := r.limited(`{"requestsPerMinute":1,"perClient":true}`)
		for _, tt := range []struct {
			from string
			want int
		}{{"203.0.113.7", 200}, {"203.0.113.7", 429}, {"203.0.113.8", 200}} {
			if a := r.do("POST", ask[0], ask[1], "Authorization", key, "X-Forwarded-For", tt.from); a.status != tt.want {
				t.Errorf("%s from %s = %d %s, want %d", ask[0], tt.from, a.status, a.body, tt.want)
			}
		}
	}
}
