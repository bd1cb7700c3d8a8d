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
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/parley-search/parley/host/internal/base/freeport"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/cluster"
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
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
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

// TestShippedConf runs three servers of NATS by each file that is shipped for them: nodes can do
// all that they do, and who has no certificate, no password, or another cluster's name cannot.
func TestShippedConf(t *testing.T) {
	deploy := filepath.Join("..", "..", "..", "..", "examples", "deploy", "cluster")
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(deploy, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	// block is the indented text behind a key of YAML.
	block := func(text, key string) string {
		_, rest, ok := strings.Cut(text, key+": |\n")
		if !ok {
			t.Fatalf("no %s", key)
		}
		indent := rest[:len(rest)-len(strings.TrimLeft(rest, " "))]
		var out strings.Builder
		for line := range strings.Lines(rest) {
			cut, ok := strings.CutPrefix(line, indent)
			if !ok {
				break
			}
			out.WriteString(cut)
		}
		return out.String()
	}
	cert, ca := certify(t)
	private, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(ca)
	authority, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"ca.crt":  authority,
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("NATS_PASSWORD", "secret")
	for name, tt := range map[string]struct {
		conf, scheme string
		hosts        []string
	}{
		"kubernetes.yaml": {block(read("kubernetes.yaml"), "nats.conf"), "tls", []string{"parley-nats-0.parley-nats", "parley-nats-1.parley-nats", "parley-nats-2.parley-nats"}},
		"nats.conf":       {read("nats.conf"), "tls", []string{"n1", "n2", "n3"}},
		"compose.yaml":    {strings.ReplaceAll(block(read("compose.yaml"), "content"), "$$", "$"), "nats", []string{"nats-1", "nats-2", "nats-3"}},
	} {
		t.Run(name, func(t *testing.T) {
			ports, err := freeport.Find(3)
			if err != nil {
				t.Fatal(err)
			}
			conf := regexp.MustCompile(`\$\{NATS_ROUTE_PASSWORD[^}]*\}`).ReplaceAllString(tt.conf, "between")
			conf = strings.ReplaceAll(conf, "/etc/nats-tls", dir)
			for i, h := range tt.hosts {
				conf = strings.ReplaceAll(conf, h+":6222", fmt.Sprintf("127.0.0.1:%d", ports[i]))
			}
			run := func(i int, conf string) *server.Server {
				t.Setenv("POD_NAME", tt.hosts[i])
				t.Setenv("HOSTNAME", tt.hosts[i])
				o, err := server.ProcessConfigFile(writeFile(t, "nats.conf", []byte(conf)))
				if err != nil {
					t.Fatal(err)
				}
				if !o.SyncAlways || o.JetStreamMaxStore < 10<<30 {
					t.Errorf("sync_interval always: %v; store of %d bytes", o.SyncAlways, o.JetStreamMaxStore)
				}
				o.ServerName = tt.hosts[i]
				o.Host, o.Port, o.HTTPPort, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, 0, t.TempDir(), true, true
				o.Cluster.Host, o.Cluster.Port = "127.0.0.1", ports[i]
				o.JetStreamMaxStore, o.JetStreamMaxMemory = 1<<30, 64<<20
				s, err := server.NewServer(o)
				if err != nil {
					t.Fatal(err)
				}
				go s.Start()
				t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
				if !s.ReadyForConnections(30 * time.Second) {
					t.Fatalf("server %d is not ready", i)
				}
				return s
			}
			var urls []string
			var servers []*server.Server
			for i := range 3 {
				s := run(i, conf)
				servers = append(servers, s)
				urls = append(urls, fmt.Sprintf("%s://parley:secret@%s", tt.scheme, s.Addr()))
			}
			log := func(name string, urls ...string) *Log {
				o := Options{URLs: urls, Name: name}
				if tt.scheme == "tls" {
					o.CA = ca
				}
				l, err := Open(o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(l.Close)
				return l
			}
			l := log("parley", urls...)
			waittest.For(t, "the log is made", func() bool { return l.Make(t.Context(), 3) == nil })
			if err := errors.Join(l.Check(t.Context()), l.Append(t.Context(), [][]byte{[]byte("a")}, 0), l.Bodies().PutBody("b", strings.NewReader("body")), l.Hear(func(cluster.Beat) {}),
				l.PutSnapshot(t.Context(), 1, 1, func(w io.Writer) error { _, err := io.WriteString(w, "s"); return err }), l.NoteBackup(t.Context())); err != nil {
				t.Fatal(err)
			}
			if list, backup, err := l.Kept(t.Context(), 1); err != nil || len(list) != 1 || backup.IsZero() {
				t.Errorf("kept: %v, %v, %v", list, backup, err)
			}
			// One that was listed, and dropped for a newer one since, is that.
			snapshot, of, err := l.OpenSnapshot(t.Context(), Snapshot{Log: 1, Seq: 0})
			if err != nil || of.Seq != 1 {
				t.Fatalf("open snapshot: message %d, %v", of.Seq, err)
			}
			kept, err := io.ReadAll(snapshot)
			if err := errors.Join(err, snapshot.Close()); err != nil || string(kept) != "s" {
				t.Errorf("snapshot: %q, %v", kept, err)
			}
			var body strings.Builder
			if err := l.Bodies().GetBody("b", &body); err != nil || body.String() != "body" {
				t.Errorf("body: %q, %v", &body, err)
			}
			if list, err := l.Read(t.Context(), 1); err != nil || len(list) != 1 {
				t.Errorf("read: %v, %v", list, err)
			}
			if _, _, err := l.OpenSnapshot(t.Context(), Snapshot{Log: 2}); err == nil {
				t.Error("a snapshot of another log is opened")
			}
			names, err := l.Bodies().PutBefore(t.Context(), time.Now().Add(time.Hour))
			if err := errors.Join(err, l.Bodies().DropBody("b"), l.DropSnapshot(t.Context(), Snapshot{Log: 1, Seq: 1}), l.Purge(t.Context(), 1)); err != nil || len(names) != 1 {
				t.Errorf("bodies %v, %v", names, err)
			}
			if err := log("other", urls...).Make(t.Context(), 1); err == nil {
				t.Error("the user of the cluster parley made the log of another one")
			}
			for what, url := range map[string]string{
				"no user": fmt.Sprintf("%s://%s", tt.scheme, servers[0].Addr()), "a wrong password": fmt.Sprintf("%s://parley:guess@%s", tt.scheme, servers[0].Addr()),
			} {
				if err := log("parley", url).Check(t.Context()); err == nil {
					t.Errorf("with %s the log can be asked", what)
				}
			}
			// A server that knows the names and has neither password nor certificate is no peer.
			o := &server.Options{ServerName: "stranger", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true}
			o.Cluster = server.ClusterOpts{Name: "parley", Host: "127.0.0.1", Port: server.RANDOM_PORT}
			for _, p := range ports {
				o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", p)})
			}
			stranger, err := server.NewServer(o)
			if err != nil {
				t.Fatal(err)
			}
			go stranger.Start()
			t.Cleanup(func() { stranger.Shutdown(); stranger.WaitForShutdown() })
			if !stranger.ReadyForConnections(30 * time.Second) {
				t.Fatal("the stranger is not ready")
			}
			if err := l.Append(t.Context(), [][]byte{[]byte("b")}, 1); err != nil {
				t.Error(err)
			}
			// It counts a route until it is turned away, and tries again.
			waittest.For(t, "the stranger has no route", func() bool { return stranger.NumRoutes() == 0 })
			for _, s := range servers {
				routes, err := s.Routez(nil)
				if err != nil || slices.ContainsFunc(routes.Routes, func(r *server.RouteInfo) bool { return r.RemoteName == "stranger" }) {
					t.Errorf("%s: %v, and the stranger among its routes, or not known", s.Name(), err)
				}
			}
		})
	}
}
