package jetstream

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/parley-search/parley/host/internal/base/waittest"
)

// certify returns a certificate for this machine, and a file of the authority that
// signed it.
func certify(t *testing.T) (cert tls.Certificate, ca string) {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	authority, own := key(), key()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "nats"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, authority.Public(), authority)
	if err != nil {
		t.Fatal(err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, own.Public(), authority)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: own},
		writeFile(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}))
}

func writeFile(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// An operator signs accounts, and they their users.
type operator struct {
	t   *testing.T
	key nkeys.KeyPair
}

// account returns the name of a new account, its token, and the file of
// credentials of a user of it.
func (o *operator) account(f func(*jwt.AccountClaims)) (name, token, creds string) {
	o.t.Helper()
	key, _ := nkeys.CreateAccount()
	name, _ = key.PublicKey()
	a := jwt.NewAccountClaims(name)
	f(a)
	token, err := a.Encode(o.key)
	if err != nil {
		o.t.Fatal(err)
	}
	user, _ := nkeys.CreateUser()
	id, _ := user.PublicKey()
	signed, err := jwt.NewUserClaims(id).Encode(key)
	if err != nil {
		o.t.Fatal(err)
	}
	seed, _ := user.Seed()
	b, err := jwt.FormatUserConfig(signed, seed)
	if err != nil {
		o.t.Fatal(err)
	}
	return name, token, writeFile(o.t, "user.creds", b)
}

// TestSecure has a server that wants TLS and a user's credentials keep a log, and
// wants an error that says what is missing where one of them is.
func TestSecure(t *testing.T) {
	cert, ca := certify(t)
	_, otherCA := certify(t)
	key, err := nkeys.CreateOperator()
	if err != nil {
		t.Fatal(err)
	}
	id, _ := key.PublicKey()
	o := &operator{t, key}
	system, systemToken, _ := o.account(func(*jwt.AccountClaims) {})
	account, token, creds := o.account(func(a *jwt.AccountClaims) {
		a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	})
	_, _, strange := (&operator{t, func() nkeys.KeyPair { k, _ := nkeys.CreateOperator(); return k }()}).account(func(*jwt.AccountClaims) {})
	resolver := &server.MemAccResolver{}
	for name, token := range map[string]string{system: systemToken, account: token} {
		if err := resolver.Store(name, token); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "secure", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), SyncAlways: true,
		TLS: true, TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}}, TLSTimeout: 5,
		TrustedOperators: []*jwt.OperatorClaims{jwt.NewOperatorClaims(id)}, SystemAccount: system, AccountResolver: resolver,
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server is not ready")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	open := func(creds, ca string) *Log {
		l, err := Open(Options{URLs: []string{"tls://" + s.Addr().String()}, Name: "a", Credentials: creds, CA: ca})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		return l
	}
	l := open(creds, ca)
	if err := l.Make(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Check(t.Context()), l.Append(t.Context(), [][]byte{[]byte("a")}, 0), l.Bodies().PutBody("b", strings.NewReader("body"))); err != nil {
		t.Fatal(err)
	}
	if list, err := l.Read(t.Context(), 1); err != nil || len(list) != 1 || string(list[0].Record) != "a" {
		t.Errorf("read: %v, %v; want what was appended", list, err)
	}
	for _, tt := range []struct{ name, creds, ca, says string }{
		{"no credentials", "", ca, "Authorization Violation"},
		{"credentials of another operator", strange, ca, "Authorization Violation"},
		{"no authority", creds, "", "x509"},
		{"another authority", creds, otherCA, "x509"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := open(tt.creds, tt.ca)
			waittest.For(t, "the error says "+tt.says, func() bool {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				err := l.Check(ctx)
				if err == nil {
					t.Fatal("the log can be asked")
				}
				return strings.Contains(err.Error(), tt.says)
			})
		})
	}
}
