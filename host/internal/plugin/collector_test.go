package plugin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// packedCollector is a guest with the manifest of a collector.
func packedCollector(t testing.TB, name, version string) []byte {
	t.Helper()
	m, _ := collectorManifest()
	m["version"] = version
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	module, err := plugin.Pack(guest(t, name), b)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func startCollector(t *testing.T, o plugin.Options) (*plugin.Collector, *plugin.CollectorInstance) {
	t.Helper()
	c, err := plugin.LoadCollector(t.Context(), open(t, nil), packedCollector(t, "collector", "1.0.0"), "here", o)
	if err != nil {
		t.Fatal(err)
	}
	i, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return c, i
}

func order(n int) []byte { return event.Append(nil, &event.Network{Remotes: event.Count(n)}) }

// answer is what the test's guest flushes.
func answer(total uint64) []byte { return abi.AppendMetric(nil, 0, abi.TagInt, total) }

func TestCollector(t *testing.T) {
	c, i := startCollector(t, plugin.Options{})
	three := bytes.Repeat(event.Append(nil, &event.Chat{}), 3)
	if got, err := i.Observe(three, 3); got != 3 || err != nil {
		t.Fatalf("Observe = %d, %v, want 3", got, err)
	}
	for range 2 {
		if got, err := i.Flush(false, []byte("x")); !bytes.Equal(got, append([]byte("x"), answer(3)...)) || err != nil {
			t.Errorf("Flush = %x, %v, want x and %x", got, err, answer(3))
		}
	}
	saved, err := i.Save(nil)
	if len(saved) != 8 || err != nil {
		t.Fatalf("Save = %x, %v, want 8 bytes", saved, err)
	}
	if got, err := i.Flush(true, nil); !bytes.Equal(got, answer(3)) || err != nil {
		t.Errorf("Flush that resets = %x, %v, want %x", got, err, answer(3))
	}
	if got, err := i.Flush(false, nil); !bytes.Equal(got, answer(0)) || err != nil {
		t.Errorf("Flush after it = %x, %v, want %x", got, err, answer(0))
	}
	other, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if taken, err := other.Load([]byte("no state")[:3]); taken || err != nil {
		t.Errorf("Load of what is no state = %v, %v, want a refusal", taken, err)
	}
	if taken, err := other.Load(saved); !taken || err != nil {
		t.Fatalf("Load = %v, %v, want it taken", taken, err)
	}
	if got, err := other.Flush(false, nil); !bytes.Equal(got, answer(3)) || err != nil {
		t.Errorf("Flush of the other after Load = %x, %v, want %x", got, err, answer(3))
	}
}

// TestCollectorFaults says what ends an instance. The next one works.
func TestCollectorFaults(t *testing.T) {
	tests := []struct {
		order int
		call  func(i *plugin.CollectorInstance) error
		want  string
	}{
		{1, nil, "trap in parley_observe"},
		{2, nil, "deadline in parley_observe"},
		{3, nil, "memory in parley_observe"},
		{4, nil, "parley_observe says that it took 1000 events of 1"},
		{5, saveIt, "parley_save answers 70000 bytes and may answer 65536"},
		{6, loadIt, "parley_load answers 2, want 0 or 1"},
		{11, flushIt, "trap in parley_flush"},
		{12, flushIt, "deadline in parley_flush"},
		{20, flushIt, "guest error"},
		{21, flushIt, "bounds in parley_flush"},
	}
	c, _ := startCollector(t, plugin.Options{CallTimeout: 300 * time.Millisecond})
	for _, tt := range tests {
		i, err := c.Start()
		if err != nil {
			t.Fatal(err)
		}
		_, err = i.Observe(order(tt.order), 1)
		if tt.call != nil && err == nil {
			err = tt.call(i)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("order %d: %v, want %q", tt.order, err, tt.want)
		}
		if _, err := i.Flush(false, nil); !errors.Is(err, wasm.ErrClosed) {
			t.Errorf("order %d: Flush after it: %v, want %v", tt.order, err, wasm.ErrClosed)
		}
		i.Close()
	}
	if got := c.Stats().Instances; got != 1 {
		t.Errorf("%d instances are alive, want the first one alone", got)
	}
}

func saveIt(i *plugin.CollectorInstance) error  { _, err := i.Save(nil); return err }
func loadIt(i *plugin.CollectorInstance) error  { _, err := i.Load([]byte("12345678")); return err }
func flushIt(i *plugin.CollectorInstance) error { _, err := i.Flush(false, nil); return err }

// TestSetCollectors applies a deployment with collectors, and another version
// of one: the hook tells which runs.
func TestSetCollectors(t *testing.T) {
	var d diary
	s := plugin.NewSet(open(t, nil), d.options())
	one := wanted(t, packedCollector(t, "collector", "1.0.0"))
	apply(t, s, one)
	if got := s.Running(); len(got) != 1 || got[0].Manifest().Kind != abi.KindCollector {
		t.Fatalf("Running = %v, want the collector", got)
	}
	c, ok := s.Running()[0].Plugin.(*plugin.Collector)
	if !ok || !c.Hold() {
		t.Fatalf("the plugin is a %T, want a collector that can be held", s.Running()[0].Plugin)
	}
	i, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	two := wanted(t, packedCollector(t, "collector", "1.1.0"))
	apply(t, s, two)
	d.mu.Lock()
	inUse := d.inUse
	d.mu.Unlock()
	if len(inUse) != 1 || inUse[0] != "1.1.0" {
		t.Errorf("the hook was told of %v, want version 1.1.0", inUse)
	}
	if _, err := i.Observe(order(0), 1); err != nil {
		t.Errorf("Observe by the version before, which is held: %v", err)
	}
	i.Close()
	c.Release()
	if _, err := plugin.Load(t.Context(), open(t, nil), packedCollector(t, "collector", "1.0.0"), "here", plugin.Options{}); err == nil || !strings.Contains(err.Error(), "a provider is wanted") {
		t.Errorf("Load of a collector: %v, want a refusal", err)
	}
	if _, err := plugin.LoadCollector(t.Context(), open(t, nil), packed(t, "good", nil), "here", plugin.Options{}); err == nil || !strings.Contains(err.Error(), "a collector is wanted") {
		t.Errorf("LoadCollector of a provider: %v, want a refusal", err)
	}
}
