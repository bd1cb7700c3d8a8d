// Package transport is what the API is carried by: TLS with certificates that are
// renewed under way, and connections whose other end has gone.
package transport

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/ocsp"
)

// TLSFiles says how the API is served over TLS. Cert and Key are PEM files and
// belong together; the certificate's chain follows it in its file.
type TLSFiles struct {
	Cert, Key string
	OCSP      string // a DER response of the issuer, to be stapled; empty: none
	// Auth is a PEM file of the authorities whose clients are let in; empty: no
	// client is asked for a certificate. RequireAuth lets in no other.
	Auth        string
	RequireAuth bool
	// Resumption lets a client take up an earlier session from the server's
	// memory; Tickets lets the client keep it itself, encrypted.
	Resumption, Tickets bool
}

// reloadEvery is how often, at most, the files are looked at.
const reloadEvery = time.Second

// OpenTLS reads the files and returns the configuration of a listener that
// reads them again once they change: a renewed certificate is used from the
// next connection on. While a change cannot be read, what was read before stays
// in force and failed is told, once for each change.
func OpenTLS(f TLSFiles, failed func(error)) (*tls.Config, error) {
	k := &keeper{files: f, failed: failed, base: &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: !f.Tickets && !f.Resumption,
	}}
	if f.Resumption && !f.Tickets {
		s := &sessions{}
		k.base.WrapSession, k.base.UnwrapSession = s.wrap, s.unwrap
	}
	k.base.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return k.current(time.Now()), nil }
	k.seen = f.stamps()
	var err error
	if k.config, err = f.read(k.base, time.Now()); err != nil {
		return nil, err
	}
	return k.base, nil
}

// A keeper holds the configuration that the files made last.
type keeper struct {
	files  TLSFiles
	base   *tls.Config // holds the keys of tickets, which outlive a renewal
	failed func(error)

	mu     sync.Mutex
	config *tls.Config
	seen   []stamp
	broken bool // what was seen could not be read
	looked time.Time
}

func (k *keeper) current(now time.Time) *tls.Config {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.looked) < reloadEvery && !now.Before(k.looked) {
		return k.config
	}
	k.looked = now
	stamps := k.files.stamps()
	changed := !slices.Equal(stamps, k.seen)
	// What could not be read is read again though it is the same: a certificate
	// has ended only as long as the machine's clock is wrong.
	if !changed && !k.broken {
		return k.config
	}
	k.seen = stamps
	c, err := k.files.read(k.base, now)
	k.broken = err != nil
	switch {
	case err == nil:
		k.config = c
	case changed:
		k.failed(err)
	}
	return k.config
}

// A stamp tells one state of a file from the next.
type stamp struct {
	size int64
	at   time.Time
}

func (f *TLSFiles) stamps() (all []stamp) {
	for _, name := range []string{f.Cert, f.Key, f.OCSP, f.Auth} {
		var s stamp
		if info, err := os.Stat(name); name != "" && err == nil {
			s = stamp{info.Size(), info.ModTime()}
		}
		all = append(all, s)
	}
	return all
}

// read makes a configuration of what the files hold, which is good now.
func (f *TLSFiles) read(base *tls.Config, now time.Time) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("read certificate %s and key %s (--ssl-cert-path, --ssl-key-path): %w", f.Cert, f.Key, err)
	}
	if now.After(cert.Leaf.NotAfter) {
		return nil, fmt.Errorf("read certificate %s (--ssl-cert-path): it ended %s: renew it", f.Cert, cert.Leaf.NotAfter.Format(time.DateOnly))
	}
	if f.OCSP != "" {
		if cert.OCSPStaple, err = readStaple(f.OCSP, cert.Leaf); err != nil {
			return nil, fmt.Errorf("read OCSP response %s (--ssl-ocsp-path): %w", f.OCSP, err)
		}
	}
	c := base.Clone()
	c.GetConfigForClient = nil
	c.Certificates = []tls.Certificate{cert}
	if f.Auth != "" {
		pem, err := os.ReadFile(f.Auth)
		if err != nil {
			return nil, fmt.Errorf("read authorities of clients (--ssl-auth-path): %w", err)
		}
		c.ClientCAs = x509.NewCertPool()
		if !c.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read authorities of clients %s (--ssl-auth-path): it holds no PEM certificate", f.Auth)
		}
		c.ClientAuth = tls.VerifyClientCertIfGiven
		if f.RequireAuth {
			c.ClientAuth = tls.RequireAndVerifyClientCert
		}
	}
	return c, nil
}

// readStaple reads a response about leaf. Its signature is the clients' to
// check: the issuer's key need not be here.
func readStaple(file string, leaf *x509.Certificate) ([]byte, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(b, []byte("-----BEGIN")) {
		return nil, errors.New("it is PEM: give the DER form, as the responder sent it")
	}
	r, err := ocsp.ParseResponse(b, nil)
	if err != nil {
		return nil, fmt.Errorf("it is not a response in DER form: %w", err)
	}
	if r.SerialNumber.Cmp(leaf.SerialNumber) != 0 {
		return nil, fmt.Errorf("it is about the certificate with number %v, and the one in force has %v", r.SerialNumber, leaf.SerialNumber)
	}
	return b, nil
}
