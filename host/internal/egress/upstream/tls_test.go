package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/freeport"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

//parley:option provider-connect-timeout
func TestNoConnection(t *testing.T) {
	nobody, err := freeport.FindAddrs(1)
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + nobody[0]
	c := client(t, Options{})
	_, err = get(t, c, to(url))
	wantError(t, err, outbound.Connect, " was not reached; the host's log has the cause", true)
	if e := err.(*outbound.Error); strings.Contains(e.Err.Error(), "127.0.0.1") {
		t.Errorf("cause %v names an address", e.Err)
	} else if e.Why != "connection refused" {
		t.Errorf("the log is told why: %q, want what the system says", e.Why)
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(stream))
	s.Config.ErrorLog = quiet()
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())

	t.Run("trusted, HTTP/2", func(t *testing.T) {
		c := client(t, Options{TLS: &tls.Config{RootCAs: roots}})
		r, err := c.Do(t.Context(), to(s.URL))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if p := r.(*response).resp.ProtoMajor; p != 2 {
			t.Errorf("HTTP/%d, want 2", p)
		}
		if got, err := drain(r); err != nil || len(got) != 3 {
			t.Errorf("%d events, error %v; want 3, none", len(got), err)
		}
	})
	t.Run("not trusted", func(t *testing.T) {
		_, err := get(t, client(t, Options{}), to(s.URL))
		wantError(t, err, outbound.Connect, "was not reached", false)
	})
	t.Run("other name", func(t *testing.T) {
		c := client(t, Options{TLS: &tls.Config{RootCAs: roots, ServerName: "other.example"}})
		_, err := get(t, c, to(s.URL))
		wantError(t, err, outbound.Connect, "was not reached", false)
	})
	t.Run("by a clock that is ahead, then right", func(t *testing.T) {
		var ahead atomic.Bool
		c := client(t, Options{TLS: &tls.Config{RootCAs: roots, Time: func() time.Time {
			if ahead.Load() {
				return s.Certificate().NotAfter.Add(time.Hour)
			}
			return time.Now()
		}}})
		ahead.Store(true)
		_, err := get(t, c, to(s.URL))
		wantError(t, err, outbound.Connect, "was not reached", false)
		ahead.Store(false)
		if got, err := get(t, c, to(s.URL)); err != nil || len(got) != 3 {
			t.Errorf("%d events, error %v; want 3, none", len(got), err)
		}
	})
	t.Run("old version", func(t *testing.T) {
		old := httptest.NewUnstartedServer(http.HandlerFunc(stream))
		old.Config.ErrorLog = quiet()
		old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
		old.StartTLS()
		defer old.Close()
		_, err := get(t, client(t, Options{}), to(old.URL))
		wantError(t, err, outbound.Connect, "was not reached", true)
	})
	t.Run("no TLS at all", func(t *testing.T) {
		plain := httptest.NewServer(http.HandlerFunc(stream))
		defer plain.Close()
		_, err := get(t, client(t, Options{}), to("https"+strings.TrimPrefix(plain.URL, "http")))
		wantError(t, err, outbound.Connect, "was not reached", false)
	})
	t.Run("silent", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, nobody answers
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, err = get(t, client(t, Options{Limits: Limits{Connect: 50 * time.Millisecond}}), to("https://"+l.Addr().String()))
		wantError(t, err, outbound.Connect, "was not reached", true)
	})
}

// TestHTTP2Breaks checks that a stream reset in the middle is no clean end.
func TestHTTP2Breaks(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: a\n\ndata: b\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c := client(t, Options{TLS: &tls.Config{RootCAs: roots}})
	got, err := get(t, c, to(s.URL))
	wantError(t, err, outbound.Broken, "broke off", false)
	if !slices.Equal(got, data("a")) {
		t.Errorf("events %q, want the one that was whole", got)
	}
}

// quiet is a log for servers whose clients fail on purpose.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
