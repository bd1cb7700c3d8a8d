package transport

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTLSClock renews a certificate while the clock stands behind its end: what
// was in force stays, and the new one is taken up once the clock is right,
// though its files are the same. They may be older than those before.
func TestTLSClock(t *testing.T) {
	srv := httptest.NewTLSServer(nil)
	cert := srv.TLS.Certificates[0]
	srv.Close()
	private, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := TLSFiles{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for name, b := range map[string]*pem.Block{f.Cert: {Type: "CERTIFICATE", Bytes: cert.Certificate[0]}, f.Key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}

	var told []error
	k := &keeper{files: f, failed: func(err error) { told = append(told, err) }, base: &tls.Config{MinVersion: tls.VersionTLS12}}
	now, wrong := time.Now(), leaf.NotAfter.Add(time.Hour)
	first := k.current(now)
	if first == nil || len(told) > 0 {
		t.Fatalf("nothing in force: %v", told)
	}
	if err := os.Chtimes(f.Cert, time.Time{}, now.AddDate(-20, 0, 0)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		wrong = wrong.Add(2 * reloadEvery)
		if k.current(wrong) != first {
			t.Error("behind its end a certificate comes in force")
		}
	}
	if len(told) != 1 || !strings.Contains(told[0].Error(), "it ended") {
		t.Errorf("told %v, want once that it ended", told)
	}
	if got := k.current(now); got == first || got == nil {
		t.Error("the clock is right again, and the new certificate is not in force")
	}
}
