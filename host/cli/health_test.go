package cli

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate writes a certificate for name, and its key, signed by itself.
func certificate(t *testing.T, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		about.IPAddresses = []net.IP{ip}
	} else {
		about.DNSNames = []string{name}
	}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestHealth asks a service whether it is well, over plain HTTP and over TLS that asks for a
// client's certificate.
func TestHealth(t *testing.T) {
	ask := func(args ...string) (code int, said string) {
		var out bytes.Buffer
		code = run(t.Context(), append([]string{"health"}, args...), &out, &out)
		return code, out.String()
	}
	_, url := reexecServe(t, os.Stderr, "--db-path", t.TempDir(), "--plugin-dir", t.TempDir(), "--no-analytics")
	for _, args := range [][]string{{"--url", url}, {"--url", url, "--ready"}} {
		if code, said := ask(args...); code != exitOK || said != "available\n" && said != "ready\n" {
			t.Errorf("health %q = %d, %q", args, code, said)
		}
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	t.Setenv("PARLEY_HTTP_ADDR", ":"+port)
	if code, said := ask(); code != exitOK {
		t.Errorf("health of a service that listens on all addresses = %d, %q", code, said)
	}
	t.Setenv("PARLEY_HTTP_ADDR", "127.0.0.1:9")
	if code, said := ask(); code != exitFailed || !strings.Contains(said, "no service answers at http://127.0.0.1:9") {
		t.Errorf("health where no service is = %d, %q", code, said)
	}

	cert, key := certificate(t, "127.0.0.1")
	mine, mineKey := certificate(t, "client")
	_, plain := reexecServe(t, os.Stderr, "--db-path", t.TempDir(), "--plugin-dir", t.TempDir(), "--no-analytics",
		"--ssl-cert-path", cert, "--ssl-key-path", key, "--ssl-auth-path", mine, "--ssl-require-auth")
	secure := strings.Replace(plain, "http://", "https://", 1)
	if code, said := ask("--url", secure, "--ca", cert, "--client-cert", mine, "--client-key", mineKey); code != exitOK {
		t.Errorf("health over TLS = %d, %q", code, said)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--ca", cert}, exitFailed, "certificate"},
		{[]string{"--client-cert", mine, "--client-key", mineKey}, exitFailed, "unknown authority"},
		{[]string{"--ca", key}, exitUsage, "holds no certificate in PEM"},
		{[]string{"--client-cert", mine}, exitUsage, "--client-cert and --client-key go together"},
	} {
		if code, said := ask(append(tt.args, "--url", secure)...); code != tt.code || !strings.Contains(said, tt.want) {
			t.Errorf("health %q = %d, %q; want %d and %q", tt.args, code, said, tt.code, tt.want)
		}
	}
	// On the service's own machine its certificate is known by the configuration.
	t.Setenv("PARLEY_HTTP_ADDR", strings.TrimPrefix(plain, "http://"))
	t.Setenv("PARLEY_SSL_CERT_PATH", cert)
	t.Setenv("PARLEY_SSL_KEY_PATH", key)
	if code, said := ask("--client-cert", mine, "--client-key", mineKey); code != exitOK {
		t.Errorf("health by the configuration = %d, %q", code, said)
	}
	other, _ := certificate(t, "127.0.0.1")
	t.Setenv("PARLEY_SSL_CERT_PATH", other)
	if code, said := ask("--client-cert", mine, "--client-key", mineKey); code != exitFailed || !strings.Contains(said, "is not that of ssl-cert-path") {
		t.Errorf("health of another service = %d, %q", code, said)
	}
}

// TestImportTLS imports documents, and files, into a service that is known by --ca and asks for
// a client's certificate.
func TestImportTLS(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	mine, mineKey := certificate(t, "client")
	_, plain := reexecServe(t, os.Stderr, "--db-path", t.TempDir(), "--plugin-dir", t.TempDir(), "--no-analytics",
		"--ssl-cert-path", cert, "--ssl-key-path", key, "--ssl-auth-path", mine, "--ssl-require-auth")
	dir := t.TempDir()
	for name, text := range map[string]string{"rows.json": `[{"id": 1, "title": "One"}]`, "page.md": "# Roses\n\nRoses are red."} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"rows.json": "imported 1 document", "page.md": "1 new"} {
		var out bytes.Buffer
		code := run(t.Context(), []string{
			"documents", "import", filepath.Join(dir, name), "--index", name[:4],
			"--url", strings.Replace(plain, "http://", "https://", 1), "--ca", cert, "--client-cert", mine, "--client-key", mineKey,
		}, &out, &out)
		if code != exitOK || !strings.Contains(out.String(), want) {
			t.Errorf("import %s over TLS = %d, %q; want %q", name, code, out.String(), want)
		}
	}
}

// TestEveryLineJSON: in JSON mode warnings and the error that ends the service are lines of the log.
func TestEveryLineJSON(t *testing.T) {
	var out bytes.Buffer
	code := run(t.Context(), []string{
		"serve", "--experimental-logs-mode", "json", "--master-key", "a key of 16 bytes", "--http-addr", "127.0.0.1:0",
		"--db-path", t.TempDir(), "--plugin-dir", t.TempDir(), "--import-dump", "/nowhere",
	}, &out, &out)
	said := 0
	for line := range strings.Lines(out.String()) {
		var l struct{ Level, Message, Error string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("a line is no JSON: %s", line)
		}
		if strings.Contains(l.Message, "can be read by others") || strings.Contains(l.Error, "/nowhere") {
			said++
		}
	}
	if code == exitOK || said != 2 {
		t.Errorf("exit code %d, want the warning of the key and the error in the log:\n%s", code, out.String())
	}
	out.Reset()
	code = run(t.Context(), []string{"serve", "--experimental-logs-mode", "json", "--http-addr", "nonsense"}, &out, &out)
	var l struct{ Level, Error string }
	if err := json.Unmarshal(out.Bytes(), &l); err != nil || code != exitUsage || l.Level != "error" || !strings.Contains(l.Error, "http-addr") {
		t.Errorf("a wrong option: exit code %d, %v, want %d and one line that names it:\n%s", code, err, exitUsage, out.String())
	}
	out.Reset()
	code = run(t.Context(), []string{"serve", "--experimental-logs-mode", "json", "--log-level", "off", "--http-addr", "nonsense"}, &out, &out)
	if code != exitUsage || !strings.Contains(out.String(), "http-addr") {
		t.Errorf("a wrong option and no log: exit code %d, want %d and what is wrong:\n%s", code, exitUsage, out.String())
	}
}
