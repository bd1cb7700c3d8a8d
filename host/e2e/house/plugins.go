package house

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A ShownPlugin is what GET /plugins says that these tests look at.
type ShownPlugin struct {
	Name, Version, State, Error, From string
	SHA256, Constraint                string
	Use, Locked                       bool
	Streams, Calls                    int
	Fuel                              int64
}

// Plugins are those that the host shows.
func (h *House) Plugins() []ShownPlugin {
	h.T.Helper()
	var list struct{ Results []ShownPlugin }
	if err := json.Unmarshal([]byte(h.Must("GET", "/plugins", "").Body), &list); err != nil {
		h.T.Fatal(err)
	}
	return list.Results
}

// Shows reports whether version is there in state.
func (h *House) Shows(version, state string) bool {
	for _, p := range h.Plugins() {
		if p.Version == version && p.State == state {
			return true
		}
	}
	return false
}

// WaitFor fails the test where ok does not come true in a long time.
func (h *House) WaitFor(what string, ok func() bool) {
	h.T.Helper()
	if !waittest.Until(ok) {
		h.T.Fatalf("%s: not within a minute; GET /plugins shows %+v; the log: %s", what, h.Plugins(), h.Log.String())
	}
}

// Shipped builds a provider of ours and returns its module.
func Shipped(t testing.TB, name string) []byte {
	t.Helper()
	return Built(t, filepath.Join("plugins", "provider", name))
}

// Built builds the plugin in a folder of the repository and returns its module.
func Built(t testing.TB, folder string) []byte {
	t.Helper()
	root := Repository(t)
	file, err := plugin.Build(t.Context(), filepath.Join(root, folder), filepath.Join(root, "plugins", "dist"), nil)
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// Packed gives a module a manifest, whether they fit or not.
func Packed(t testing.TB, module []byte, source string, change map[string]any) []byte {
	t.Helper()
	m := map[string]any{
		"abi": 1, "kind": "provider", "name": strings.ToLower(source), "version": "1.0.0", "source": source,
		"settings": map[string]any{"baseUrl": map[string]any{"required": true}, "orgId": map[string]any{}, "apiKey": map[string]any{}},
		"grants":   map[string]any{"http": []string{"${baseUrl}"}, "secrets": []string{"apiKey"}},
		"limits":   map[string]any{"memoryMiB": 8},
	}
	for k, v := range change {
		m[k] = v
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := abi.WithSection(module, abi.SectionManifest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// OldModules returns plugins as they were built at 814cff3, the last commit at which
// the contract's only version was 1: openai, and the examples plain-c, plain-rust and
// talk-c. They are kept as bytes, since what is built today has the SDK of today.
func OldModules(t testing.TB) map[string][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join(Repository(t), "host", "e2e", "testdata", "abi1.tar.zst"))
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

// Publishing is the configuration of who publishes plugins on this machine.
func Publishing(t testing.TB) config.Config {
	t.Helper()
	c, _, err := config.Load(config.Sources{Flags: map[string]string{"plugin-dir": t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
