package httpapi_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
)

// What another implementation sees of the TLS settings: openssl's own client.
func TestTLSByOpenSSL(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	a, other := newAuthority(t, "ours"), newAuthority(t, "others")
	a.issue("server", 2, soon())
	a.issue("client", 3, soon())
	other.issue("client", 3, soon())
	a.staple("server.ocsp", 2)
	r, _ := secure(t, a, transport.TLSFiles{OCSP: a.file("server.ocsp"), Auth: a.file("ca.pem"), RequireAuth: true}, nil)
	mine := []string{"-cert", a.file("client.pem"), "-key", a.file("client.key")}
	theirs := []string{"-cert", other.file("client.pem"), "-key", other.file("client.key")}
	for _, tt := range []struct {
		name string
		args []string
		ok   bool
		says string
	}{
		{"TLS 1.3", append(mine, "-tls1_3"), true, "TLSv1.3"},
		{"TLS 1.2", append(mine, "-tls1_2"), true, "TLSv1.2"},
		{"TLS 1.1", append(mine, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"), false, ""},
		{"a weak cipher", append(mine, "-tls1_2", "-cipher", "AES128-SHA"), false, ""},
		{"stapled", append(mine, "-status"), true, "OCSP Response Status: successful"},
		{"no certificate", nil, false, ""},
		{"another authority's", theirs, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"s_client", "-connect", strings.TrimPrefix(r.url, "https://"), "-servername", "parley.test", "-CAfile", a.file("ca.pem"), "-ign_eof"}, tt.args...)
			cmd := exec.CommandContext(t.Context(), "openssl", args...)
			cmd.Stdin = strings.NewReader("GET /health HTTP/1.1\r\nHost: parley.test\r\nConnection: close\r\n\r\n")
			out, _ := cmd.CombinedOutput() // what it says counts, not how it ends
			said := string(out)
			if ok := strings.Contains(said, `{"status":"available"}`); ok != tt.ok || !strings.Contains(said, tt.says) {
				t.Errorf("answered: %v, want %v, with %q:\n%s", ok, tt.ok, tt.says, said)
			}
		})
	}
}
