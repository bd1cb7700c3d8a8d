package httpapi_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// An authority signs certificates for a test.
type authority struct {
	tb   testing.TB
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

func newAuthority(tb testing.TB, name string) *authority {
	tb.Helper()
	a := &authority{tb: tb, dir: tb.TempDir()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(tb, err)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(tb, err)
	a.key = key
	a.cert, err = x509.ParseCertificate(der)
	check(tb, err)
	a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) write(name, kind string, der []byte) {
	a.tb.Helper()
	check(a.tb, os.WriteFile(filepath.Join(a.dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// issue writes name.pem and name.key and returns them as one.
func (a *authority) issue(name string, number int64, ends time.Time) tls.Certificate {
	a.tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(a.tb, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"parley.test"},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: ends, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	check(a.tb, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	check(a.tb, err)
	a.write(name+".pem", "CERTIFICATE", der)
	a.write(name+".key", "PRIVATE KEY", private)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// staple writes an OCSP response about the certificate with number.
func (a *authority) staple(name string, number int64) []byte {
	a.tb.Helper()
	b, err := ocsp.CreateResponse(a.cert, a.cert, ocsp.Response{
		Status: ocsp.Good, SerialNumber: big.NewInt(number), ThisUpdate: time.Now(), NextUpdate: time.Now().Add(time.Hour),
	}, a.key)
	check(a.tb, err)
	check(a.tb, os.WriteFile(a.file(name), b, 0o600))
	return b
}

func soon() time.Time { return time.Now().Add(time.Hour) }

// secure returns a rig over TLS by files, and its client's configuration.
func secure(t *testing.T, a *authority, f transport.TLSFiles, failed func(error)) (*rig, *tls.Config) {
	t.Helper()
	f.Cert, f.Key = a.file("server.pem"), a.file("server.key")
	if failed == nil {
		failed = func(err error) { t.Errorf("changed files: %v", err) }
	}
	c, err := transport.OpenTLS(f, failed)
	check(t, err)
	r := newRig(t, wish{tls: c})
	r.url = strings.Replace(r.url, "http:", "https:", 1)
	client := &tls.Config{RootCAs: a.pool(), ServerName: "parley.test"}
	r.client.Transport = &http.Transport{TLSClientConfig: client, DisableKeepAlives: true}
	return r, client
}

// health makes a request on a connection of its own, and returns how that was
// secured.
func (r *rig) health(t *testing.T) (*tls.ConnectionState, error) {
	t.Helper()
	res, err := r.client.Get(r.url + "/health")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 {
		t.Errorf("health = %d %s, %v", res.StatusCode, b, err)
	}
	return res.TLS, nil
}

//parley:option ssl-cert-path ssl-key-path ssl-ocsp-path
func TestTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "ours")
	a.issue("server", 2, soon())
	staple := a.staple("server.ocsp", 2)
	r, client := secure(t, a, transport.TLSFiles{OCSP: a.file("server.ocsp")}, nil)
	state, err := r.health(t)
	if err != nil || state.Version != tls.VersionTLS13 || !bytes.Equal(state.OCSPResponse, staple) {
		t.Errorf("health: %v, %+v, want TLS 1.3 with the stapled response", err, state)
	}
	client.MaxVersion = tls.VersionTLS11
	if _, err := r.health(t); err == nil {
		t.Error("TLS 1.1 is spoken, want 1.2 or later")
	}
	if res, err := http.Get(strings.Replace(r.url, "https:", "http:", 1) + "/health"); err == nil {
		res.Body.Close()
		if res.StatusCode == 200 {
			t.Error("plain HTTP is answered")
		}
	}
}

func TestTLSStreams(t *testing.T) {
	a := newAuthority(t, "ours")
	a.issue("server", 2, soon())
	r, _ := secure(t, a, transport.TLSFiles{}, nil)
	if got := r.do("POST", completions, hello); !strings.Contains(got.body, "Hello") || !strings.HasSuffix(got.body, "data: [DONE]\n\n") {
		t.Errorf("stream = %q, want it whole", got.body)
	}
}

// A client that leaves while the provider is silent is noticed, although its
// farewell is there to be read.
func TestTLSClientLeaves(t *testing.T) {
	a := newAuthority(t, "ours")
	a.issue("server", 2, soon())
	c, err := transport.OpenTLS(transport.TLSFiles{Cert: a.file("server.pem"), Key: a.file("server.key")}, func(error) {})
	check(t, err)
	p := newProvider()
	r := newRig(t, wish{upstream: p, tls: c, limits: httpapi.Limits{Watch: 10 * time.Millisecond}})
	r.url = strings.Replace(r.url, "http:", "https:", 1)
	r.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.pool(), ServerName: "parley.test"}}
	p.events <- "text:one"
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+completions, strings.NewReader(hello))
	check(t, err)
	req.Header.Set("Authorization", "Bearer "+master)
	req.Header.Set("Content-Type", "application/json")
	res, err := r.client.Do(req)
	check(t, err)
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := waitFor(t, p.ended, "end of the provider's answer"); err == nil {
		t.Error("the provider's answer ended by itself, want it cancelled")
	}
}

//parley:option ssl-auth-path ssl-require-auth
func TestTLSAuthority(t *testing.T) {
	t.Parallel()
	a, other := newAuthority(t, "ours"), newAuthority(t, "others")
	a.issue("server", 2, soon())
	ours, theirs, old := a.issue("client", 3, soon()), other.issue("client", 3, soon()), a.issue("old", 4, time.Now().Add(-time.Minute))
	tests := []struct {
		name    string
		require bool
		with    *tls.Certificate
		ok      bool
	}{
		{"optional, none", false, nil, true},
		{"optional, ours", false, &ours, true},
		{"optional, others'", false, &theirs, false},
		{"required, none", true, nil, false},
		{"required, ours", true, &ours, true},
		{"required, others'", true, &theirs, false},
		{"required, over", true, &old, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, client := secure(t, a, transport.TLSFiles{Auth: a.file("ca.pem"), RequireAuth: tt.require}, nil)
			if tt.with != nil { // sent even where the server does not name its authority
				client.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return tt.with, nil }
			}
			if _, err := r.health(t); (err == nil) != tt.ok {
				t.Errorf("health: %v, want it let in: %v", err, tt.ok)
			}
		})
	}
}

//parley:option ssl-resumption ssl-tickets
func TestTLSResumption(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "ours")
	a.issue("server", 2, soon())
	for _, tt := range []struct {
		name                string
		resumption, tickets bool
	}{{"neither", false, false}, {"from memory", true, false}, {"by tickets", false, true}, {"both", true, true}} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(tt.name+" "+tls.VersionName(version), func(t *testing.T) {
				r, client := secure(t, a, transport.TLSFiles{Resumption: tt.resumption, Tickets: tt.tickets}, nil)
				client.MaxVersion = version
				client.ClientSessionCache = tls.NewLRUClientSessionCache(4)
				for i, want := range []bool{false, tt.resumption || tt.tickets} {
					state, err := r.health(t)
					if err != nil || state.DidResume != want {
						t.Errorf("connection %d: %v, resumed %v, want %v", i, err, state != nil && state.DidResume, want)
					}
				}
			})
		}
	}
}

// A certificate is renewed while clients connect: none of them fails, the new
// one is used from then on, and a renewal that is half done changes nothing.
func TestTLSRenewal(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "ours")
	a.issue("server", 2, soon())
	told := make(chan error, 1)
	r, client := secure(t, a, transport.TLSFiles{}, func(err error) {
		select {
		case told <- err:
		default: // the first will do
		}
	})
	client.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	number := func() int64 {
		state, err := r.health(t)
		if err != nil {
			t.Fatalf("a connection during the renewal: %v", err)
		}
		return state.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := number(); got != 2 {
		t.Fatalf("certificate %d, want 2", got)
	}
	until := func(what string, done func() bool) {
		t.Helper()
		waittest.For(t, what, done)
	}
	key, err := os.ReadFile(a.file("server.key"))
	check(t, err)
	check(t, os.WriteFile(a.file("server.key"), []byte("half"), 0o600))
	var first error
	until("told of a key that cannot be read", func() bool {
		if got := number(); got != 2 {
			t.Fatalf("certificate %d, want 2 while the key is broken", got)
		}
		select {
		case first = <-told:
		default:
		}
		return first != nil
	})
	if text := first.Error(); !strings.Contains(text, "server.key") || strings.Contains(text, string(key)) {
		t.Errorf("told %q, want the file's name", text)
	}
	a.issue("server", 7, soon())
	until("the new certificate", func() bool { return number() == 7 })
}

func TestTLSRefused(t *testing.T) {
	a := newAuthority(t, "ours")
	a.issue("server", 2, soon())
	a.issue("other", 3, soon())
	a.issue("old", 4, time.Now().Add(-time.Minute))
	a.staple("other.ocsp", 3)
	check(t, os.WriteFile(a.file("text"), []byte("text"), 0o600))
	good := transport.TLSFiles{Cert: a.file("server.pem"), Key: a.file("server.key")}
	for name, tt := range map[string]struct {
		change func(f *transport.TLSFiles)
		want   string
	}{
		"no certificate":      {func(f *transport.TLSFiles) { f.Cert = a.file("none") }, "--ssl-key-path): open"},
		"another's key":       {func(f *transport.TLSFiles) { f.Key = a.file("other.key") }, "does not match"},
		"a certificate over":  {func(f *transport.TLSFiles) { f.Cert, f.Key = a.file("old.pem"), a.file("old.key") }, "renew it"},
		"no authority":        {func(f *transport.TLSFiles) { f.Auth = a.file("text") }, "--ssl-auth-path): it holds no PEM certificate"},
		"another's response":  {func(f *transport.TLSFiles) { f.OCSP = a.file("other.ocsp") }, "number 3"},
		"a response that PEM": {func(f *transport.TLSFiles) { f.OCSP = a.file("ca.pem") }, "DER"},
		"no response":         {func(f *transport.TLSFiles) { f.OCSP = a.file("text") }, "--ssl-ocsp-path): it is not a response in DER form"},
	} {
		f := good
		tt.change(&f)
		if _, err := transport.OpenTLS(f, func(error) {}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: OpenTLS = %v, want an error with %q", name, err, tt.want)
		}
	}
}
