package e2e

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/egress/upstream/upstreamtest"
)

// TestWeatherStorm has every request of many clients answered with a status of
// 500 and above, in any words or none: each is told at once, and the first
// request after the storm is answered, since nothing rests for it.
func TestWeatherStorm(t *testing.T) {
	if apart.Run(t) {
		return
	}
	s := newStation(t, 10, nil, bench.Sources()...)
	bodies := []string{"", "<html><h1>Bad gateway</h1></html>", `{"error":{"message":"overloaded","type":"server_error"}}`, `{"error":`}
	for _, source := range s.sources {
		var storm sync.WaitGroup
		for round := range s.rounds {
			status, body := []int{500, 501, 502, 503, 507, 520, 529}[s.rng.IntN(7)], bodies[s.rng.IntN(len(bodies))]
			model := fmt.Sprint("storm-", source, round)
			s.wire.On(model, says(house.Answered(status, "", body)))
			storm.Go(func() {
				r, got := s.Ask(source, model)
				what := fmt.Sprintf("%s: status %d, body %q", source, status, body)
				s.checkFailed(what, r, got, http.StatusBadGateway, "llm_provider_error")
				if !strings.Contains(r.Body, fmt.Sprint(status)) {
					t.Errorf("%s: the answer does not name the status: %s", what, r.Body)
				}
			})
		}
		storm.Wait()
		s.checkWhole(source)
	}
	s.checkCalm()
	for name, n := range series(s.House) {
		if n != 0 && (strings.HasPrefix(name, "parley_plugin_resting{") || strings.HasPrefix(name, "parley_plugin_faults_total{")) {
			t.Errorf("%s = %v: the provider's failures are taken for the plugin's", name, n)
		}
	}
}

// An outage is why no request reaches a provider.
type outage struct {
	name   string
	lookup func(string) ([]string, error) // nil: the provider's address is found
	serve  func(net.Conn)                 // what its port does over TLS; nil: nobody listens
}

func outages(stranger *tls.Config) []outage {
	return []outage{
		{name: "no such name", lookup: func(string) ([]string, error) { return nil, nil }},
		{name: "no name server", lookup: func(string) ([]string, error) { return nil, errors.New("down") }},
		{name: "refused", lookup: func(string) ([]string, error) { return []string{"127.0.0.2"}, nil }},
		{name: "a stranger's certificate", serve: func(c net.Conn) { _ = tls.Server(c, stranger).Handshake() }},
		{name: "no certificate", serve: func(c net.Conn) { _ = tls.Server(c, &tls.Config{}).Handshake() }},
		{name: "no TLS", serve: func(c net.Conn) { fmt.Fprint(c, "HTTP/1.0 400 Bad Request\r\n\r\nThis is HTTPS.\r\n") }},
		{name: "hangs up", serve: func(net.Conn) {}},
	}
}

// TestWeatherOutage makes a provider out of reach in each way that there is,
// for several clients at once: they are told the same of each, and the first
// request after it is back is answered.
func TestWeatherOutage(t *testing.T) {
	if apart.Run(t) {
		return
	}
	own, stranger := writeTLS(t, t.TempDir()), writeTLS(t, t.TempDir())
	far := newFar(t, own)
	s := newStationAt(t, 1, nil, upstream.Options{Resolver: upstreamtest.Resolver(t, far.lookup), TLS: &tls.Config{RootCAs: own.RootCAs}}, "vLlm")
	far.to = strings.TrimPrefix(s.wire.URL, "http://")
	s.Must("PATCH", "/chats/far/settings", bench.Settings("vLlm", far.url, "[]"))
	all := outages(stranger)
	for range s.rounds {
		s.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i := range all {
			o := &all[i]
			far.set(o)
			var clients sync.WaitGroup
			for range 3 {
				clients.Go(func() {
					r, got := s.Ask("far", "whole")
					s.checkFailed(o.name, r, got, http.StatusBadGateway, "llm_provider_error")
					const want = " was not reached; the host's log has the cause. See that the provider runs there, and that the workspace's `baseUrl` is right."
					if _, message := shownOf(r, got); !strings.HasSuffix(message, strings.TrimPrefix(far.url, "https://")+want) {
						t.Errorf("%s: %s, want it to say %q", o.name, r.Body, want)
					}
				})
			}
			clients.Wait()
			far.set(&outage{})
			s.checkWhole("far")
		}
	}
	s.checkCalm()
}

// A far is the way to a provider, by a name and TLS.
type far struct {
	url, to string
	own     *tls.Config

	mu  sync.Mutex
	out *outage
}

// newFar listens until the test ends.
func newFar(t *testing.T, own *tls.Config) *far {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &far{url: fmt.Sprintf("https://parley.test:%d", ln.Addr().(*net.TCPAddr).Port), own: own, out: &outage{}}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer c.Close()
				f.serve(c)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		open.Wait()
	})
	return f
}

func (f *far) set(o *outage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out = o
}

func (f *far) now() *outage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out
}

// lookup is the provider's name server.
func (f *far) lookup(name string) ([]string, error) {
	if o := f.now(); o.lookup != nil {
		return o.lookup(name)
	}
	return []string{"127.0.0.1"}, nil
}

// serve passes a connection on to the provider.
func (f *far) serve(c net.Conn) {
	if o := f.now(); o.serve != nil {
		o.serve(c)
		return
	}
	in := tls.Server(c, f.own)
	out, err := net.Dial("tcp", f.to)
	if err != nil {
		return
	}
	go func() {
		defer out.Close()
		_, _ = io.Copy(out, in)
	}()
	_, _ = io.Copy(in, out)
	_ = in.Close() // says so to TLS, too
}
