package plugintest

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/abi/metric"
	"github.com/parley-search/parley/sdk/collector"
)

// A CollectorDriver calls one collector as a host does, and holds what it
// answers to its manifest.
type CollectorDriver struct {
	t        testing.TB
	guest    collector.Guest
	input    region
	manifest abi.Manifest
	texts    []text
}

type text struct{ vocabulary, text string }

// NewCollector returns a driver of c, whose manifest is that file. It ends the test
// where no host would take the manifest.
func NewCollector[S any, C interface {
	*S
	collector.Collector
}](t testing.TB, c C, file string) *CollectorDriver {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Parse(b)
	if err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	if m.Kind != abi.KindCollector {
		t.Fatalf("read %s: the plugin is a %s", file, m.Kind)
	}
	return &CollectorDriver{t: t, guest: collector.NewGuest[S](c), manifest: *m}
}

// Handle returns the handle of a text of a vocabulary, which is made where it
// is new; see event.Vocabularies.
func (d *CollectorDriver) Handle(vocabulary, s string) event.Handle {
	for i, t := range d.texts {
		if t == (text{vocabulary, s}) {
			return event.Handle(i + 1)
		}
	}
	d.texts = append(d.texts, text{vocabulary, s})
	return event.Handle(len(d.texts))
}

// Text returns the text that a handle stands for, "" where there is none.
func (d *CollectorDriver) Text(h event.Handle) string {
	if h < 1 || h > event.Handle(len(d.texts)) {
		return ""
	}
	return d.texts[h-1].text
}

// Emit gives the collector an event, where its manifest names it.
func Emit[E event.Type](d *CollectorDriver, e E) {
	d.t.Helper()
	for _, name := range d.manifest.Events {
		if event.KindOf(name) == event.KindFor[E]() {
			d.Observe(event.Append(nil, &e))
		}
	}
}

// Observe gives the collector event records.
func (d *CollectorDriver) Observe(records []byte) {
	d.t.Helper()
	want := 0
	for rest := records; ; want++ {
		_, next, ok, err := event.Next(rest)
		if err != nil {
			d.t.Fatalf("observe: %v", err)
		}
		if !ok {
			break
		}
		rest = next
	}
	var got uint32
	_, _ = d.input.call(records, func(in []byte) ([]byte, error) { got = d.guest.Observe(in); return nil, nil })
	if int(got) != want {
		d.t.Errorf("observe took %d events, want %d", got, want)
	}
}

// Flush looks at the window so far: the values by path, as a message has them
// (nil, bool, int64, float64, string, []string, metric.Histogram; of a metric with a label, a
// map[string]any of these). A metric without a value is not in it.
func (d *CollectorDriver) Flush() map[string]any {
	d.t.Helper()
	return d.flush(0)
}

// End ends the window and returns its metrics.
func (d *CollectorDriver) End() map[string]any {
	d.t.Helper()
	return d.flush(abi.FlushReset)
}

func (d *CollectorDriver) flush(flags uint32) map[string]any {
	d.t.Helper()
	first := bytes.Clone(d.guest.Flush(abi.AppendFlushInput(nil, 0)))
	records := d.guest.Flush(abi.AppendFlushInput(nil, flags))
	if !bytes.Equal(first, records) {
		d.t.Errorf("flush answered twice with no event between:\n%x\n%x", first, records)
	}
	values, problems := d.read(records)
	for _, p := range problems {
		d.t.Error(p)
	}
	return values
}

// read holds records to the manifest.
func (d *CollectorDriver) read(b []byte) (values map[string]any, problems []string) {
	said := metric.Read(d.manifest.Metrics, b, d.lookUp)
	values, problems = map[string]any{}, said.Problems
	for i := range d.manifest.Metrics {
		m := &d.manifest.Metrics[i]
		if said.Given[i] {
			values[m.Path] = said.Values[i]
		}
		if !said.Seen[i] && m.NoData == abi.NoDataAlways && len(m.Constant) == 0 {
			problems = append(problems, fmt.Sprintf("metric %s has no value, and its manifest promises one always", m.Path))
		}
	}
	return values, problems
}

func (d *CollectorDriver) lookUp(vocabulary string, h uint64) (string, bool) {
	if h < 1 || h > uint64(len(d.texts)) || d.texts[h-1].vocabulary != vocabulary {
		return "", false
	}
	return d.texts[h-1].text, true
}

// Save returns the state, as the host keeps it.
func (d *CollectorDriver) Save() []byte { return bytes.Clone(d.guest.Save()) }

// Load gives the collector a state that Save returned, of this version or of another.
func (d *CollectorDriver) Load(state []byte) (ok bool) {
	_, _ = d.input.call(state, func(in []byte) ([]byte, error) { ok = d.guest.Load(in); return nil, nil })
	return ok
}
