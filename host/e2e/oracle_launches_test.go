package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/testhook"
)

// The launches: in place of requests, a host that nobody asks anything.
const (
	bare    scenario = "launched with nothing given"
	byFlags scenario = "launched with everything given, by flags"
	byFile  scenario = "launched with a file and variables"
	older   scenario = "launched again after ten days, with two indexes, telemetry off between"
)

func launches() map[scenario]func(*stage) *scene {
	return map[scenario]func(*stage) *scene{bare: launchedBare, byFlags: launchedByFlags, byFile: launchedByFile, older: launchedAgain}
}

// preset are the defaults of a test: none of them is given by anybody.
func preset(t testing.TB) map[string]string {
	t.Helper()
	return map[string]string{"http-addr": "127.0.0.1:0", "db-path": t.TempDir(), "plugin-dir": t.TempDir(), "shutdown-grace": house.Grace}
}

func launchedBare(s *stage) *scene {
	return s.open(config.Sources{Preset: preset(s.t)}, host.Options{Hooks: &testhook.Hooks{Machine: &sysinfo.Machine{Distribution: "debian", Kernel: "6.1.0-13-amd64", RAM: 2 << 20, Disk: 40e9, Cores: 2}}}, newClock())
}

func launchedByFlags(s *stage) *scene {
	dir := s.t.TempDir()
	client := writeTLS(s.t, dir)
	flags := preset(s.t)
	for name, value := range map[string]string{
		"env": "production", "master-key": "a master key of the oracle",
		"import-dump": filepath.Join(dir, "nowhere.dump"), "ignore-missing-dump": "true", "ignore-dump-if-db-exists": "true", "dump-dir": dir,
		"import-snapshot": filepath.Join(dir, "nowhere.snapshot"), "ignore-missing-snapshot": "true", "ignore-snapshot-if-db-exists": "true",
		"snapshot-dir": dir, "schedule-snapshot": "86400",
		"http-payload-size-limit": "50MB", "log-level": "trace", "max-indexing-memory": "64 MiB", "max-indexing-threads": "3",
		"ssl-cert-path": filepath.Join(dir, "cert.pem"), "ssl-key-path": filepath.Join(dir, "key.pem"), "ssl-auth-path": filepath.Join(dir, "cert.pem"),
		"ssl-ocsp-path": filepath.Join(dir, "ocsp.der"), "ssl-require-auth": "true", "ssl-resumption": "true", "ssl-tickets": "true",
		"task-webhook-url":            "http://127.0.0.1:9/nobody",
		"experimental-enable-metrics": "true", "experimental-logs-mode": "json", "experimental-enable-logs-route": "true",
		"experimental-search-queue-size": "500", "experimental-contains-filter": "true",
		"experimental-reduce-indexing-memory-usage": "true", "experimental-embedding-cache-entries": "100",
		"experimental-replication-parameters": "true",
	} {
		flags[name] = value
	}
	h := s.open(config.Sources{Flags: flags, Environ: []string{"PARLEY_SERVER_PROVIDER=aws"}},
		host.Options{Hooks: &testhook.Hooks{Machine: &sysinfo.Machine{Distribution: "alpine", Kernel: "5.15.167.4-microsoft-standard-WSL2", RAM: 8 << 20, Disk: 500e9, Cores: 16}}}, newClock())
	h.URL = strings.Replace(h.URL, "http:", "https:", 1)
	h.Client.Transport = withKey{"a master key of the oracle", &http.Transport{TLSClientConfig: client}}
	return h
}

// launchedByFile gives options in the other two ways, some of them with the
// values that they have anyway.
func launchedByFile(s *stage) *scene {
	file := filepath.Join(s.t.TempDir(), "parley.toml")
	text := "dump_dir = \"dumps\"\nssl_resumption = false\nssl_tickets = false\nssl_require_auth = false\nlog_level = \"info\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	defaults := preset(s.t)
	return s.open(config.Sources{
		File: file, Preset: defaults,
		Environ: []string{"PARLEY_SNAPSHOT_DIR=snapshots", "PARLEY_DB_PATH=" + defaults["db-path"], "PARLEY_ENV=development", "PARLEY_SERVER_PROVIDER=Joe's basement"},
	}, host.Options{Version: "nightly of Joe's", Hooks: &testhook.Hooks{Machine: &sysinfo.Machine{Distribution: "joe-linux", Kernel: "joe"}}}, newClock())
}

func launchedAgain(s *stage) *scene {
	defaults, c := preset(s.t), newClock()
	first := s.open(config.Sources{Preset: defaults}, host.Options{}, c)
	first.happen(s.t, `
POST /indexes {"uid":"one"}
POST /indexes {"uid":"two"}`)
	first.Close()
	c.pass(5 * 24 * time.Hour)
	s.open(config.Sources{Preset: defaults, Environ: []string{"DO_NOT_TRACK=1"}}, host.Options{}, c).Close()
	c.pass(5 * 24 * time.Hour)
	return s.open(config.Sources{Preset: defaults}, host.Options{}, c)
}

// A withKey sends a key with each request.
type withKey struct {
	key  string
	next http.RoundTripper
}

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.next.RoundTrip(r)
}

// writeTLS writes a certificate that is its own authority, its key and what
// its authority says of it, and returns what a client with it does.
func writeTLS(t testing.TB, dir string) *tls.Config {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "parley.test"}, DNSNames: []string{"parley.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(err)
	cert, err := x509.ParseCertificate(der)
	must(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	staple, err := ocsp.CreateResponse(cert, cert, ocsp.Response{
		Status: ocsp.Good, SerialNumber: cert.SerialNumber, ThisUpdate: time.Now(), NextUpdate: time.Now().Add(24 * time.Hour),
	}, key)
	must(err)
	must(os.WriteFile(filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	must(os.WriteFile(filepath.Join(dir, "ocsp.der"), staple, 0o600))
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{RootCAs: pool, ServerName: "parley.test", Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}
