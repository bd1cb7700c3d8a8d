package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// small writes a plugin of a few bytes called "small" into dir and returns its
// path; grants are origins.
func small(t *testing.T, dir, version string, grants ...string) string {
	t.Helper()
	bare := read(t, "host/internal/plugin/testdata/good.wasm")
	manifest, err := json.Marshal(map[string]any{
		"abi": 1, "kind": "provider", "name": "small", "version": version, "source": "small",
		"grants": map[string]any{"http": grants},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := abi.WithSection([]byte(bare), abi.SectionManifest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "small-"+version+".wasm")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestPluginCommands goes through the life of a plugin as an operator does, and
// reads what is printed.
func TestPluginCommands(t *testing.T) {
	shop, dir := t.TempDir(), filepath.Join(t.TempDir(), "plugins")
	one, two := small(t, shop, "1.0.0", "https://a.example"), small(t, shop, "1.1.0", "https://a.example")
	wide := small(t, shop, "2.0.0", "https://a.example", "https://b.example")
	parley := func(code int, args ...string) (out, errs string) {
		t.Helper()
		var o, e bytes.Buffer
		if got := run(t.Context(), append([]string{"plugin"}, args...), &o, &e); got != code {
			t.Fatalf("parley plugin %s: code %d, want %d\n%s%s", args, got, code, &o, &e)
		}
		return o.String(), e.String()
	}
	has := func(what, got string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s:\n%s\nwhich lacks %q", what, got, w)
			}
		}
	}
	t.Setenv("PARLEY_PLUGIN_DIR", dir)
	t.Setenv("PARLEY_ENV", "production") // which no command on plugins needs a key for

	out, _ := parley(exitOK, "install", one)
	has("the first install", out, "plugin   small 1.0.0\n", "file     "+filepath.Join(dir, "small-1.0.0.wasm")+"\n", "grants   requests to https://a.example\n", "in use   1.0.0 (the first)\n")
	out, _ = parley(exitOK, "install", two)
	has("the second install", out, "in use   1.1.0 (before: 1.0.0)\n")
	_, errs := parley(exitFailed, "install", wide)
	has("a wider one", errs, "asks for more than 1.1.0, which is in use: requests to https://b.example", "`parley plugin diff small "+wide+" --plugin-dir "+dir+"`", "`parley plugin install "+wide+" --grant --plugin-dir "+dir+"`")
	out, _ = parley(exitOK, "diff", "small", wide)
	has("diff", out, "small 1.1.0 (", ") → small 2.0.0 (", "\n! + grants http.https://b.example\n", "\n  ~ module size: ")
	out, _ = parley(exitOK, "diff", "small", two)
	has("diff of the same", out, "nothing differs")
	out, _ = parley(exitOK, "install", wide, "--grant", "--beside")
	has("beside", out, "in use   1.1.0\n", "note     1.1.0 stays in use, as you wished: take it in use by `parley plugin pin small@2.0.0 ")
	out, _ = parley(exitOK, "list")
	lines := strings.Split(out, "\n")
	if len(lines) != 5 || len(strings.Fields(lines[1])) < 9 || strings.Join(strings.Fields(lines[1])[:3], " ") != "small 1.1.0 *" || strings.Join(strings.Fields(lines[3])[:3], " ") != "small 1.0.0 <" {
		t.Errorf("list:\n%s", out)
	}
	out, _ = parley(exitOK, "rollback", "small")
	has("rollback", out, "in use   1.0.0 (before: 1.1.0)\n")
	out, _ = parley(exitOK, "pin", "small@~1.1")
	has("pin", out, "in use   1.1.0 (before: 1.0.0), by ~1.1\n")
	out, _ = parley(exitOK, "verify")
	if strings.Count(out, "ok        small ") != 3 {
		t.Errorf("verify:\n%s", out)
	}
	out, _ = parley(exitOK, "remove", "small@1.0.0")
	has("remove", out, "removed  small 1.0.0\nin use   1.1.0\n")

	if err := os.WriteFile(filepath.Join(dir, "small-2.0.0.wasm"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "loose.wasm"), []byte("loose"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs = parley(exitFailed, "verify")
	has("verify", out, "ok        small 1.1.0  ", "refused   small 2.0.0: "+filepath.Join(dir, "small-2.0.0.wasm")+" was altered", "unlisted  "+filepath.Join(dir, "loose.wasm")+": ")
	has("verify", errs, "1 pinned plugin is not as the lock says")
	out, _ = parley(exitOK, "list", "--json")
	var items []struct{ Name, State, Reason string }
	if err := json.Unmarshal([]byte(out), &items); err != nil || len(items) != 3 || items[1].State != "refused" || items[1].Reason == "" {
		t.Errorf("list --json: %v\n%s", err, out)
	}
	_, errs = parley(exitFailed, "rollback", "absent")
	has("rollback of what is not there", errs, "pins no plugin absent: it has small")
	_, errs = parley(exitUsage, "list", "--plugin-public-key", "junk")
	has("a wrong key", errs, `option plugin-public-key (flag --plugin-public-key) is "junk", which cannot be used`)
	out, _ = parley(exitOK, "remove", "small")
	has("remove all", out, "removed  small 1.1.0, 2.0.0\nin use   -\n")
}

// TestPluginInstallFrom takes plugins from a URL, and from the directory itself.
func TestPluginInstallFrom(t *testing.T) {
	shop, dir := t.TempDir(), t.TempDir()
	file := small(t, shop, "1.0.0")
	module, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(shop))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metadata" {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	url := server.URL + "/small-1.0.0.wasm"
	install := func(from string, more ...string) (int, string) {
		var out, errs bytes.Buffer
		return run(t.Context(), append([]string{"plugin", "install", from, "--plugin-dir", dir}, more...), &out, &errs), errs.String()
	}
	any := "@" + strings.Repeat("0", 64)
	for _, from := range []string{"http://169.254.169.254/x.wasm" + any, server.URL + "/metadata" + any} {
		if code, errs := install(from, "--allow-private-networks", "any"); code != exitFailed || !strings.Contains(errs, "link-local") {
			t.Errorf("install from %s: code %d, %s", from, code, errs)
		}
	}
	if code, errs := install(url, "--allow-private-networks", "10.0.0.0/8"); code != exitFailed || !strings.Contains(errs, "the address is private: --allow-private-networks allows such") {
		t.Errorf("install from an address that is not allowed: code %d, %s", code, errs)
	}
	t.Setenv("PARLEY_ENV", "production")
	if code, errs := install(url); code != exitFailed || !strings.Contains(errs, "the address is private") {
		t.Errorf("install of a production host from this machine: code %d, %s", code, errs)
	}
	if code, errs := install(url+any, "--allow-private-networks", "127.0.0.1"); code != exitFailed || !strings.Contains(errs, "was expected: nothing was kept") {
		t.Errorf("the same, allowed: code %d, %s", code, errs)
	}
	t.Setenv("PARLEY_ENV", "development")
	if code, errs := install(url + "@" + strings.Repeat("0", 64)); code != exitFailed || !strings.Contains(errs, "was expected: nothing was kept") {
		t.Errorf("install with a wrong hash: code %d, %s", code, errs)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left after a wrong hash: %v, %v; want nothing", left, err)
	}
	if code, errs := install(fmt.Sprintf("%s@%x", url, sha256.Sum256(module))); code != exitOK {
		t.Errorf("install from a URL: code %d, %s", code, errs)
	}
	if code, errs := install(small(t, dir, "1.1.0")); code != exitOK {
		t.Errorf("install of a file that lies there: code %d, %s", code, errs)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"plugin", "verify", "--plugin-dir", dir}, &out, &errs); code != exitOK || strings.Count(out.String(), "ok  ") != 2 {
		t.Errorf("verify: code %d, %s%s", code, &out, &errs)
	}
}

// TestPluginInstallAtStart serves what was installed, in the mode that is the
// default.
func TestPluginInstallAtStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plugins")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"plugin", "install", small(t, t.TempDir(), "1.0.0"), "--plugin-dir", dir}, &out, &errs); code != exitOK {
		t.Fatalf("plugin install: code %d, %s", code, &errs)
	}
	p := start(t, "serve", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir(), "--plugin-dir", dir)
	line := p.waitFor(" serving ")
	_, addr, _ := strings.Cut(line, "addr=")
	addr, _, _ = strings.Cut(addr, " ")
	if ready := readyPlugins(t, "http://"+addr); !ready["small"] {
		t.Errorf("serving without the plugin: %s, ready are %v", line, ready)
	}
}
