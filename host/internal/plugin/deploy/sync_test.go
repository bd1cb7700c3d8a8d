package deploy

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSync restores what a lock pins and nothing else: a rollback stays, what is there
// stays, and a file with another hash is refused.
func TestSync(t *testing.T) {
	in := newInstaller(t)
	old, newer, local := module(t, "x", "1.0.0", nil), module(t, "x", "1.1.0", nil), module(t, "y", "1.0.0", nil)
	served := map[string][]byte{"/x-1.0.0.wasm": old, "/x-1.1.0.wasm": newer}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(served[r.URL.Path]) }))
	defer srv.Close()
	in.Dir.Transport = srv.Client().Transport
	for _, path := range []string{"/x-1.0.0.wasm", "/x-1.1.0.wasm"} {
		src, err := ParseSource(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := in.Dir.Fetch(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Install(t.Context(), f, InstallOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	install(t, in, local, InstallOptions{})
	if _, err := in.Rollback(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile(filepath.Join(in.Dir.Path, LockFile))
	if err != nil {
		t.Fatal(err)
	}
	has := local // of y, in this program
	shipped := func(name, version string) ([]byte, error) {
		if name == "y" {
			return has, nil
		}
		return nil, errors.New("asked for what came from a URL")
	}
	remove := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.Remove(filepath.Join(in.Dir.Path, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	sync := func(want string) {
		t.Helper()
		all, err := in.Sync(t.Context(), shipped)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range all {
			got += s.Name + " " + s.Version + " " + s.State + "\n"
			if strings.HasPrefix(s.Reason, "it was installed from a file, and") != (has == nil && s.State == SyncFailed) {
				t.Errorf("%s %s: reason %q", s.Name, s.Version, s.Reason)
			}
		}
		if got != want {
			t.Errorf("Sync did\n%swant\n%s", got, want)
		}
		now, err := os.ReadFile(filepath.Join(in.Dir.Path, LockFile))
		if err != nil || string(now) != string(lock) {
			t.Errorf("the lock was changed: %v\n%s", err, now)
		}
	}
	sync("x 1.0.0 kept\nx 1.1.0 kept\ny 1.0.0 kept\n")
	remove("x-1.0.0.wasm", "x-1.1.0.wasm", "y-1.0.0.wasm")
	sync("x 1.0.0 fetched\nx 1.1.0 fetched\ny 1.0.0 fetched\n")
	checkDir(t, in.Dir)
	if err := os.WriteFile(filepath.Join(in.Dir.Path, "x-1.0.0.wasm"), newer, 0o600); err != nil {
		t.Fatal(err)
	}
	sync("x 1.0.0 fetched\nx 1.1.0 kept\ny 1.0.0 kept\n")

	remove("x-1.0.0.wasm", "y-1.0.0.wasm")
	served["/x-1.0.0.wasm"], has = newer, newer
	sync("x 1.0.0 failed\nx 1.1.0 kept\ny 1.0.0 failed\n")
	has = nil
	served["/x-1.0.0.wasm"] = old
	sync("x 1.0.0 fetched\nx 1.1.0 kept\ny 1.0.0 failed\n")
}
