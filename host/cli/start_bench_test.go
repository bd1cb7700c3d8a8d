package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/internal/plugin"
)

// BenchmarkStart measures the start of the program with all plugins that we
// ship, from its exec to the first request that it answers: with nothing
// compiled yet, and with the compilation cache of a start before. loaded-s is when
// all plugins are loaded, in seconds from the exec; rss-MiB is the host's memory
// then, plugin-MiB what each of the idle plugins adds to it.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	manifests, err := filepath.Glob(filepath.Join(root(b), "plugins", "*", "*", "manifest.json"))
	if err != nil || len(manifests) < 7 {
		b.Fatalf("%d plugins, %v", len(manifests), err)
	}
	for _, m := range manifests {
		if _, err := plugin.Build(b.Context(), filepath.Dir(m), dir, nil); err != nil {
			b.Fatal(err)
		}
	}
	none, _ := startOnce(b, b.TempDir(), b.TempDir())
	for _, how := range []string{"cold", "cached"} {
		b.Run(how, func(b *testing.B) {
			var memory int64
			var loaded time.Duration
			starts := 0
			data := b.TempDir()
			b.Setenv("PARLEY_PLUGIN_CACHE_DIR", filepath.Join(data, "compiled"))
			startOnce(b, data, dir)
			for b.Loop() {
				if how == "cold" {
					b.StopTimer()
					if err := os.RemoveAll(filepath.Join(data, "compiled")); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				m, took := startOnce(b, data, dir)
				memory, loaded, starts = m, loaded+took, starts+1
			}
			b.ReportMetric(loaded.Seconds()/float64(starts), "loaded-s")
			b.ReportMetric(float64(memory)/(1<<20), "rss-MiB")
			b.ReportMetric(float64(memory-none)/(1<<20)/float64(len(manifests)), "plugin-MiB")
		})
	}
}

// startOnce starts the program, waits for its first answer and, off the clock, for
// its plugins, and ends it.
func startOnce(b *testing.B, data, plugins string) (memory int64, loaded time.Duration) {
	b.Helper()
	begun := time.Now()
	program, url := serveUnlocked(b, data, plugins)
	b.StopTimer()
	defer b.StartTimer()
	resp, err := http.Get(url + "/plugins") // which waits for them
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	loaded = time.Since(begun)
	memory, _, _ = bench.RSS(program.Process.Pid)
	if err := program.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		b.Fatal(err)
	}
	return memory, loaded
}
