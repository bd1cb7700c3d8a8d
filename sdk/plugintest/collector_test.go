package plugintest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
	"github.com/parley-search/parley/sdk/plugintest"
)

// liar says what its manifest does not allow, as far as it is told to.
type liar struct{ Events, Lie uint64 }

func (l *liar) Observe(e collector.Event) {
	l.Events++
	if n := e.Network(); n != nil {
		l.Lie = uint64(n.Remotes)
	}
}

func (l *liar) Flush(m *collector.Metrics) {
	switch l.Lie {
	case 0:
		m.Count(0, l.Events)
	case 1:
		m.Count(0, 77)
	case 2:
		m.Count(0, 1)
		m.Count(0, 1)
	case 3:
		m.Count(5, 1)
	}
}

// recorder keeps what a test would have failed with.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper()        {}
func (r *recorder) Error(a ...any) { r.said = append(r.said, fmt.Sprint(a...)) }

// Fatalf ends the goroutine, as a test's does.
func (r *recorder) Fatalf(format string, a ...any) {
	r.said = append(r.said, fmt.Sprintf(format, a...))
	runtime.Goexit()
}

// TestNewCollectorRefuses ends tests of manifests that build refuses.
func TestNewCollectorRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"abi": 1, "kind": "collector", "name": "n", "version": "1.0.0", "events": ["chat"], "metrics": [{"path": "n", "kind": "int"}]}`: "range must be",
		`{"abi": 1, "kind": "provider", "name": "n", "version": "1.0.0", "source": "n"}`:                                                  "is a provider",
	} {
		file := filepath.Join(t.TempDir(), "manifest.json")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r := &recorder{TB: t}
		done := make(chan bool)
		go func() {
			defer close(done)
			plugintest.NewCollector(r, &liar{}, file)
		}()
		<-done
		if said := strings.Join(r.said, "; "); !strings.Contains(said, want) {
			t.Errorf("NewCollector with %s ends the test with %q, want %q", text, said, want)
		}
	}
}

func TestCollectorDriver(t *testing.T) {
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	const text = `{"abi": 1, "kind": "collector", "name": "n", "version": "1.0.0", "events": ["network", "chat"], "metrics": [
		{"path": "n", "kind": "int", "meaning": "m", "events": ["chat"], "aggregation": "sum", "range": [0, 9], "noData": "always"}]}`
	if err := os.WriteFile(manifest, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for lie, want := range []string{"", "metric n: 77 is not within 0 to 9", "comes twice", "not in the manifest, which has 1", "no value"} {
		r := &recorder{TB: t}
		d := plugintest.NewCollector(r, &liar{}, manifest)
		plugintest.Emit(d, event.Network{Remotes: event.Count(lie)})
		plugintest.Emit(d, event.Search{}) // which its manifest does not name
		got := d.Flush()
		switch {
		case want == "" && (len(r.said) > 0 || got["n"] != int64(1)):
			t.Errorf("Flush = %v with %q, want n of 1: one event that it asked for", got, r.said)
		case want != "" && !strings.Contains(strings.Join(r.said, "; "), want):
			t.Errorf("lie %d: the test fails with %q, want %q", lie, r.said, want)
		}
	}
}
