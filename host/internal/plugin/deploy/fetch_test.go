package deploy

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/outbound/outboundtest"
	"github.com/parley-search/parley/host/internal/plugin"
)

func TestParseSource(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	tests := []struct{ in, place, sum string }{
		{"a.wasm", "a.wasm", ""},
		{"dir@home/a.wasm", "dir@home/a.wasm", ""},
		{"a.wasm@" + sum, "a.wasm", sum},
		{"a.wasm@sha256:" + strings.ToUpper(sum), "a.wasm", sum},
		{"https://x.example/a.wasm", "https://x.example/a.wasm", ""},
		{"https://user@x.example/a.wasm@" + sum, "https://user@x.example/a.wasm", sum},
		{"http://x.example/a.wasm@" + sum, "http://x.example/a.wasm", sum},
		{"http://127.0.0.1:1/a.wasm", "http://127.0.0.1:1/a.wasm", ""},
		{"http://[::1]:1/a.wasm", "http://[::1]:1/a.wasm", ""},
	}
	for _, tt := range tests {
		got, err := ParseSource(tt.in)
		if err != nil || got.Place != tt.place || got.SHA256 != tt.sum {
			t.Errorf("ParseSource(%q) = %q, %q, %v; want %q, %q", tt.in, got.Place, got.SHA256, err, tt.place, tt.sum)
		}
	}
	refused := []struct{ in, want string }{
		{"a.wasm@" + sum[:40], "not a sha256: one has 64"},
		{"a.wasm@sha256:abc", "not a sha256: one has 64"},
		{"http://x.example/a.wasm", "comes without encryption"},
		{"http://user:hush@x.example/a.wasm", "http://user:xxxxx@x.example/a.wasm comes"},
		{"ftp://x.example/a.wasm", "neither a file nor a URL"},
		{"https:///a.wasm", "neither a file nor a URL"},
	}
	for _, tt := range refused {
		if _, err := ParseSource(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("ParseSource(%q): %v, want …%s…", tt.in, err, tt.want)
		}
	}
}

// shop serves plugins, well and badly.
func shop(t testing.TB, files map[string][]byte) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/file/", func(w http.ResponseWriter, r *http.Request) {
		b, ok := files[strings.TrimPrefix(r.URL.Path, "/file/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(b)
	})
	mux.HandleFunc("/moved/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/file/"+strings.TrimPrefix(r.URL.Path, "/moved/"), http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/plain", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://plain.example/a.wasm", http.StatusFound)
	})
	mux.HandleFunc("/disk", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("location", "file:///etc/passwd")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		part := make([]byte, 1<<20)
		for {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-length", "100")
		_, _ = w.Write([]byte("less"))
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestFetch(t *testing.T) {
	good := module(t, "x", "1.0.0", nil)
	base := shop(t, map[string][]byte{"x.wasm": good, "x.wasm.minisig": []byte("signature")})
	file := filepath.Join(t.TempDir(), "x.wasm")
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	fetch := func(d Dir, s string) (module, signature []byte, err error) {
		src, err := ParseSource(s)
		if err != nil {
			t.Fatal(err)
		}
		d.Transport = &http.Transport{}
		f, err := d.Fetch(t.Context(), src)
		if err != nil {
			return nil, nil, err
		}
		return f.Module, f.Signature, nil
	}
	for _, s := range []string{file, file + "@" + hash(good), base + "/file/x.wasm", base + "/file/x.wasm@" + hash(good), base + "/moved/x.wasm"} {
		got, signature, err := fetch(Dir{}, s)
		if err != nil || !bytes.Equal(got, good) || len(signature) != 0 {
			t.Errorf("Fetch(%s): %d bytes, signature %q, %v", s, len(got), signature, err)
		}
	}
	signed := Dir{PublicKey: &PublicKey{}}
	if _, signature, err := fetch(signed, base+"/moved/x.wasm"); err != nil || string(signature) != "signature" {
		t.Errorf("Fetch with a key: signature %q, %v", signature, err)
	}
	wrong := strings.Repeat("0", 64)
	tests := []struct{ source, want string }{
		{file + "@" + wrong, file + " has sha256 " + hash(good) + ", and " + wrong + " was expected: nothing was kept"},
		{base + "/file/x.wasm@" + wrong, "/file/x.wasm has sha256 " + hash(good)},
		{filepath.Join(t.TempDir(), "absent.wasm"), "no such file"},
		{base + "/file/absent.wasm", "the server answers 404 Not Found"},
		{base + "/broken", "the server answers 502 Bad Gateway"},
		{base + "/loop", "more than 5 redirects"},
		{base + "/plain", "comes without encryption"},
		{base + "/disk", "a redirect to what is not http"},
		{base + "/endless", "over 65536 KiB"},
		{base + "/cut", "unexpected EOF"},
		{"http://127.0.0.1:1/x.wasm", "connection refused"},
	}
	for _, tt := range tests {
		if b, _, err := fetch(Dir{}, tt.source); err == nil || !strings.Contains(err.Error(), tt.want) || b != nil {
			t.Errorf("Fetch(%s): %d bytes, %v; want …%s…", tt.source, len(b), err, tt.want)
		}
	}
	if plugin.MaxModule>>10 != 65536 {
		t.Error("the bound has changed: so must the test")
	}
}

// TestBadAddresses gives each bad address of a scheme to what reads a plugin's source.
func TestBadAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range outboundtest.BadURLs {
		if _, err := ParseSource(text); strings.Contains(text, "://") && err == nil {
			t.Errorf("ParseSource(%q): no error", text)
		}
	}
}
