package e2e

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host"
)

// oldModules returns plugins as they were built at 814cff3, the last commit at which
// the contract's only version was 1: openai, and the examples plain-c, plain-rust and
// talk-c. They are kept as bytes, since what is built today has the SDK of today.
func oldModules(t testing.TB) map[string][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "abi1.tar.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	all := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(h.Name, "-0.")
		name, _, _ = strings.Cut(name, "-1.")
		if all[name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOldModulesPass puts plugins of ABI 1, byte for byte as they were, through
// everything that a plugin of today is put through.
func TestOldModulesPass(t *testing.T) {
	t.Parallel()
	for name, module := range oldModules(t) {
		t.Run(name, func(t *testing.T) {
			report, err := host.CheckPlugin(t.Context(), module, host.Trial{CallTimeout: time.Minute, CacheDir: compiledModules(t)})
			if err != nil {
				t.Fatal(err)
			}
			if !report.Passed || report.ABI != 1 {
				t.Errorf("ABI %d, passed %v: %+v", report.ABI, report.Passed, report.Checks)
			}
		})
	}
}

var noMessage = regexp.MustCompile(`"message":\s*""`)

// TestOldModuleReplays has a module of ABI 1 decode all that its successor is
// tested with.
func TestOldModuleReplays(t *testing.T) {
	t.Parallel()
	r, err := host.OpenReplayer(t.Context(), "openAi", host.Trial{CacheDir: compiledModules(t)}, oldModules(t)["openai"])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	r.Strict = true
	cases, err := response.ReadCases(filepath.Join(repository(t), "sdk", "openai", "testdata"))
	if err != nil || len(cases) < 100 {
		t.Fatalf("%d cases, %v; want over 100", len(cases), err)
	}
	for _, c := range cases {
		if c.Name == "stream-html" {
			continue // the host tells of a web page itself, before a plugin sees it
		}
		// What the plugin leaves empty, the host says in a sentence of its own.
		c.Expected = []byte(noMessage.ReplaceAllString(string(c.Expected), `"message":null`))
		t.Run(c.Name, func(t *testing.T) { replayCase(t, r, c) })
	}
}

// TestOldModulesLive chats by plugins of ABI 1, swaps one for its next version and
// rolls it back, while the host runs.
func TestOldModulesLive(t *testing.T) {
	t.Parallel()
	var authorization string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		authorization = r.Header.Get("authorization")
		w.Header().Set("content-type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"well"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()
	modules := oldModules(t)
	dir := filepath.Join(t.TempDir(), "plugins")
	d := host.OpenDeployment(host.Config{PluginDir: dir}, host.Options{})
	install := func(module []byte) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "any.wasm")
		if err := os.WriteFile(file, module, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Install(t.Context(), file, host.InstallWishes{Grant: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, module := range modules {
		install(module)
	}
	h := openHouse(t, map[string]string{"plugin-dir": dir})
	chat := func(source string) {
		t.Helper()
		authorization = ""
		h.must("PATCH", "/chats/"+source+"/settings", fmt.Sprintf(`{"source": %q, "baseUrl": %q, "apiKey": "key of %s"}`, source, provider.URL+"/v1", source))
		r, got := h.ask(source, "m")
		if got["text"] != "well" || authorization != "Bearer key of "+source {
			t.Errorf("%s: %d %.300s; the provider saw the authorization %q", source, r.status, r.body, authorization)
		}
	}
	for _, source := range []string{"openAi", "plain-c", "plain-rust"} {
		chat(source)
	}
	for _, p := range h.plugins() {
		if p.State != "ready" {
			t.Errorf("plugin %s %s is %s: %s", p.Name, p.Version, p.State, p.Error)
		}
	}

	// The same code as another version.
	sections, err := abi.Sections(modules["plain-c"], abi.SectionManifest)
	if err != nil {
		t.Fatal(err)
	}
	manifest := bytes.Replace(sections[0], []byte(`"version":"0.1.0"`), []byte(`"version":"0.2.0"`), 1)
	if bytes.Equal(manifest, sections[0]) {
		t.Fatalf("the manifest is not as the test has it: %s", sections[0])
	}
	next, err := abi.WithSection(modules["plain-c"], abi.SectionManifest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	install(next)
	h.waitFor("the swap", func() bool { return h.shows("0.2.0", "ready") })
	chat("plain-c")
	if _, err := d.Rollback(t.Context(), "plain-c"); err != nil {
		t.Fatal(err)
	}
	h.must("POST", "/plugins/reload", "")
	for _, p := range h.plugins() {
		if p.Name == "plain-c" && p.Use != (p.Version == "0.1.0") {
			t.Errorf("after the rollback plain-c %s is in use: %v", p.Version, p.Use)
		}
	}
	chat("plain-c")
}
