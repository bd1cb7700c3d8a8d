package plugin_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/plugin"
)

// smallestCollector is the one of the examples, built here.
func smallestCollector(t testing.TB) *plugin.Collector {
	t.Helper()
	file, err := plugin.Build(t.Context(), filepath.Join("..", "..", "..", "examples", "collector-smallest"), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := plugin.LoadCollector(t.Context(), open(t, nil), module, file, plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGoCollector runs the example as a module, as its own test runs it as
// plain Go.
func TestGoCollector(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and compiles a plugin, which takes long")
	}
	i, err := smallestCollector(t).Start()
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	records := event.Append(nil, &event.Chat{Outcome: event.ChatAnswered})
	records = event.Append(records, &event.Chat{Outcome: event.ChatLeft})
	records = event.Append(records, &event.Chat{Outcome: event.ChatAnswered})
	if n, err := i.Observe(records, 3); n != 3 || err != nil {
		t.Fatalf("Observe = %d, %v, want 3", n, err)
	}
	var want []byte
	for metric, n := range []uint64{2, 0, 0, 0, 1} {
		want = abi.AppendMetric(want, uint16(metric), abi.TagInt, n)
	}
	if got, err := i.Flush(false, nil); !bytes.Equal(got, want) || err != nil {
		t.Errorf("Flush = %x, %v, want %x", got, err, want)
	}
	saved, err := i.Save(nil)
	if err != nil || len(saved) == 0 {
		t.Fatalf("Save = %x, %v", saved, err)
	}
	if _, err := i.Flush(true, nil); err != nil {
		t.Fatal(err)
	}
	if taken, err := i.Load(saved); !taken || err != nil {
		t.Fatalf("Load = %v, %v, want it taken", taken, err)
	}
	if got, err := i.Flush(false, nil); !bytes.Equal(got, want) || err != nil {
		t.Errorf("Flush after Load = %x, %v, want %x", got, err, want)
	}
}

// BenchmarkObserve measures an event in a collector written in Go, by the size
// of the batch that it comes in.
func BenchmarkObserve(b *testing.B) {
	c := smallestCollector(b)
	for _, batch := range []int{1, 64, 1024} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			i, err := c.Start()
			if err != nil {
				b.Fatal(err)
			}
			defer i.Close()
			records := bytes.Repeat(event.Append(nil, &event.Chat{Outcome: event.ChatAnswered}), batch)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := i.Observe(records, batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch), "ns/event")
		})
	}
}
