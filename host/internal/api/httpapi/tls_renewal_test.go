package httpapi_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// TestHammerTLSRenewal renews the certificate under load, of clients that
// connect anew for each request, that resume sessions, and that keep their
// connection: no request fails, and each renewal is seen by all who connect.
// RENEWALS says how many there are.
func TestHammerTLSRenewal(t *testing.T) {
	t.Parallel()
	renewals := 2
	if s := os.Getenv("RENEWALS"); s != "" {
		var err error
		if renewals, err = strconv.Atoi(s); err != nil {
			t.Fatalf("RENEWALS=%q: want a number", s)
		}
	}
	a := newAuthority(t, "ours")
	a.issue("server", 2, soon())
	// Certificate and key are two files: in between they do not belong together.
	r, client := secure(t, a, transport.TLSFiles{Tickets: true}, func(error) {})
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer stop()
	requests := map[string]*atomic.Int64{}
	var seen [4]atomic.Int64 // the certificate that each of those saw last that connect anew
	load := func(kind string, transport *http.Transport, saw *atomic.Int64) {
		count := requests[kind]
		clients.Go(func() {
			defer transport.CloseIdleConnections()
			c := &http.Client{Transport: transport, Timeout: time.Minute}
			for ctx.Err() == nil {
				number, err := askHealth(c, r.url)
				if err != nil {
					t.Errorf("a client with %s: %v", kind, err)
					return
				}
				if count.Add(1); saw != nil {
					saw.Store(number)
				}
				select { // leaves the machine some air
				case <-ctx.Done():
				case <-time.After(2 * time.Millisecond):
				}
			}
		})
	}
	for _, kind := range []string{"new connections", "resumed sessions", "a kept connection"} {
		requests[kind] = &atomic.Int64{}
	}
	for i := range seen {
		load("new connections", &http.Transport{TLSClientConfig: client.Clone(), DisableKeepAlives: true}, &seen[i])
		resuming := client.Clone()
		resuming.ClientSessionCache = tls.NewLRUClientSessionCache(4)
		load("resumed sessions", &http.Transport{TLSClientConfig: resuming, DisableKeepAlives: true}, nil)
		load("a kept connection", &http.Transport{TLSClientConfig: client.Clone()}, nil)
	}
	for n := range renewals {
		want := int64(3 + n)
		a.issue("server", want, soon())
		waittest.For(t, fmt.Sprintf("every client sees certificate %d", want), func() bool {
			all := true
			for i := range seen {
				all = all && seen[i].Load() == want
			}
			return all || t.Failed()
		})
		if t.Failed() {
			t.FailNow()
		}
	}
	for kind, n := range requests {
		t.Logf("%d renewals: %d requests with %s, none failed", renewals, n.Load(), kind)
		if n.Load() == 0 {
			t.Errorf("no request with %s", kind)
		}
	}
}

// askHealth makes a request and returns the number of the certificate that the
// connection was made with.
func askHealth(c *http.Client, url string) (number int64, err error) {
	res, err := c.Get(url + "/health")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("health: %d %s, %w", res.StatusCode, b, err)
	}
	return res.TLS.PeerCertificates[0].SerialNumber.Int64(), nil
}
