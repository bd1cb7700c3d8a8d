package plugin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// open returns a runtime that is closed, and leaves no goroutine, at the end
// of the test.
func open(t testing.TB, l wasm.Limiter) *wasm.Runtime {
	t.Helper()
	before := runtime.NumGoroutine()
	rt, err := wasm.Open(wasm.Options{Limiter: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if !waittest.Until(func() bool { return runtime.NumGoroutine() <= before }) {
			t.Errorf("%d goroutines after Close, %d before Open", runtime.NumGoroutine(), before)
		}
	})
	return rt
}

func guest(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// manifest returns a good one, changed by the fields of change.
func manifest(t testing.TB, change map[string]any) []byte {
	t.Helper()
	m := map[string]any{
		"abi": 1, "kind": "provider", "name": "test", "version": "1.2.0", "source": "testAi",
		"settings": map[string]any{"apiKey": map[string]any{"required": true}},
		"grants":   map[string]any{"http": []string{"https://api.example.com", "${baseUrl}"}, "secrets": []string{"apiKey"}},
	}
	for k, v := range change {
		m[k] = v
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// packed returns a guest with a manifest in it, whether they fit or not.
func packed(t testing.TB, name string, change map[string]any) []byte {
	t.Helper()
	b, err := abi.WithSection(guest(t, name), abi.SectionManifest, manifest(t, change))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func load(t testing.TB, rt *wasm.Runtime, name string) *plugin.Provider {
	t.Helper()
	p, err := plugin.Load(context.Background(), rt, packed(t, name, nil), "test", plugin.Options{CallTimeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
