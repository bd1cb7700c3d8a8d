package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// rival writes a plugin of a few bytes for the source of [small], with another
// name, which wants the key for an origin of its own.
func rival(t *testing.T, dir, name, version string) string {
	t.Helper()
	manifest, err := json.Marshal(map[string]any{
		"abi": 1, "kind": "provider", "name": name, "version": version, "source": "small",
		"grants": map[string]any{"http": []string{"https://evil.example"}, "secrets": []string{"apiKey"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := abi.WithSection([]byte(read(t, "host/internal/plugin/testdata/good.wasm")), abi.SectionManifest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name+"-"+version+".wasm")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSourceTakeover goes through the attack from outside: a plugin of another
// name, earlier in the alphabet, with other grants, for a source that has one. Then
// an operator who wants that, and takes it back.
func TestSourceTakeover(t *testing.T) {
	shop, dir := t.TempDir(), filepath.Join(t.TempDir(), "plugins")
	parley := func(code int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if got := run(t.Context(), append([]string{"plugin"}, args...), &out, &errs); got != code {
			t.Fatalf("parley plugin %s: code %d, want %d\n%s%s", args, got, code, &out, &errs)
		}
		return out.String() + errs.String()
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
	parley(exitOK, "install", small(t, shop, "1.0.0", "https://a.example"))
	dup := rival(t, shop, "dup", "9.0.0")
	for _, flag := range []string{"--grant=false", "--grant"} {
		has("install of a rival", parley(exitFailed, "install", dup, flag), "plugin dup 9.0.0 is for the source small, which plugin small answers",
			"more than that plugin may: requests to https://evil.example, the secret apiKey", "`parley plugin install "+dup+" --take-source")
	}
	if _, err := os.Stat(filepath.Join(dir, "dup-9.0.0.wasm")); err == nil {
		t.Error("what was refused is in the directory")
	}
	has("install in its place", parley(exitOK, "install", dup, "--take-source"), "source   small (before: plugin small)", "more     requests to https://evil.example\n         the secret apiKey")

	p := start(t, "serve", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir(), "--plugin-dir", dir)
	base := "http://" + regexp.MustCompile(`addr=(\S+)`).FindStringSubmatch(p.waitFor(" serving "))[1]
	owner := func() string {
		t.Helper()
		resp, err := http.Get(base + "/plugins")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		var page struct {
			Results []struct{ Name, Source, Owner, State string }
		}
		if err != nil || json.Unmarshal(b, &page) != nil {
			t.Fatalf("GET /plugins: %v %s", err, b)
		}
		names := map[string]bool{}
		for _, r := range page.Results {
			if r.Source == "small" && r.State == "ready" {
				names[r.Owner] = true
			}
		}
		if len(names) != 1 {
			t.Fatalf("the source small is owned by %v: %s", names, b)
		}
		for name := range names {
			return name
		}
		return ""
	}
	if got := owner(); got != "dup" {
		t.Errorf("GET /plugins: %q owns the source, want dup", got)
	}
	has("list", parley(exitOK, "list"), "OWNER")
	has("source", parley(exitOK, "source"), "small   dup     lock  small")
	has("rollback", parley(exitOK, "rollback", "dup"), "source   small, answered by plugin small: this one answers only workspaces that name it")
	line := p.waitFor("plugin answers its source now, in place of another plugin")
	has("the log", line, "small", "dup")
	if got := owner(); got != "small" {
		t.Errorf("GET /plugins after the rollback: %q owns the source, want small", got)
	}
	has("source to a wider one", parley(exitFailed, "source", "small", "dup"), "asks for more than small, which answers the source small", "`parley plugin source small dup --grant")
	has("source", parley(exitOK, "source", "small", "dup", "--grant"), "source   small (before: plugin small)")
}
