package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
)

// bodies joins what messages say, for comparison.
func bodies(messages []Message) string { return string(Body(messages)) }

func TestWindow(t *testing.T) {
	c := collectorOf("a", "1.0.0")
	r := newRig(t, newSpool(), c)
	r.emit(3)
	r.pass(59 * time.Minute)
	if len(r.spool.messages) != 0 {
		t.Fatalf("%d messages were sealed before the first hour was over", len(r.spool.messages))
	}
	r.pass(time.Minute)
	id, err := ParseUUID(r.spool.messages[0].ID)
	if err != nil {
		t.Error(err)
	}
	want := `{"batch":[{"type":"track","messageId":"` + id.String() + `","userId":"01020304-0506-4708-890a-0b0c0d0e0f10",` +
		`"timestamp":"2026-11-21T08:00:00Z","event":"a","context":{"collector":{"name":"a","version":"1.0.0"},"ip":"0.0.0.0"},` +
		`"properties":{"a":{"gpu":false,"n":3}}}]}`
	if got := bodies(r.spool.messages); got != want {
		t.Errorf("the window was sealed as\n%s\nwant\n%s", got, want)
	}
	r.emit(1)
	r.pass(time.Hour)
	if len(r.spool.messages) != 2 || r.spool.messages[1].Window != 2 || !strings.Contains(string(r.spool.messages[1].Body), `"n":1`) {
		t.Errorf("the second window was sealed as %s, want n of 1", bodies(r.spool.messages[1:]))
	}
	if len(r.said) > 0 || r.ended != 2 {
		t.Errorf("the engine said %q, and told of %d windows, want nothing and 2", r.said, r.ended)
	}
}

// TestMessageIDs gives another id to each message, whatever became of the data directory: a
// platform drops an id that it has seen. The same window sealed again has the same.
func TestMessageIDs(t *testing.T) {
	window := func(spool *memorySpool, events int, epoch string) Message {
		t.Helper()
		r := newRig(t, spool, collectorOf("a", "1.0.0"))
		r.engine.options.Epoch = epoch
		r.emit(events)
		if one, two := bodies(r.engine.Preview()), bodies(r.engine.Preview()); one != two {
			t.Errorf("a window previewed twice: %s and %s", one, two)
		}
		w, err := r.engine.EndWindow(t.Context())
		if err != nil || len(w.Messages) != 1 {
			t.Fatalf("EndWindow = %+v, %v", w, err)
		}
		return w.Messages[0]
	}
	seen := map[string]string{}
	add := func(what string, m Message) {
		t.Helper()
		if before, ok := seen[m.ID]; ok {
			t.Errorf("%s has the id of %s", what, before)
		}
		seen[m.ID] = what
	}
	spool := newSpool()
	add("the first", window(spool, 3, "one"))
	copied := func() *memorySpool {
		c := newSpool()
		c.state = bytes.Clone(spool.state)
		return c
	}
	before := copied()
	add("the second", window(spool, 3, "one"))
	add("a copy of before the second, with other data", window(before, 4, "one"))
	add("a spool made anew", window(newSpool(), 3, "two"))
	add("a spool made anew, again", window(newSpool(), 3, "three"))
}

// TestEndWindow ends windows before their hour: they have what was counted, each is
// kept once, and the next one has its whole hour. What cannot be kept goes on.
func TestEndWindow(t *testing.T) {
	r := newRig(t, newSpool(), collectorOf("a", "1.0.0"))
	r.emit(5)
	r.pass(40 * time.Minute)
	shown := bodies(r.engine.Preview())
	r.spool.fail = errors.New("no room")
	if w, err := r.engine.EndWindow(t.Context()); err == nil || w.Number != 0 {
		t.Errorf("EndWindow without room = %+v, %v, want an error", w, err)
	}
	r.spool.fail = nil
	w, err := r.engine.EndWindow(t.Context())
	if err != nil || w.Number != 1 || bodies(w.Messages) != shown || bodies(r.spool.messages) != shown {
		t.Errorf("EndWindow = %+v, %v and kept %s, want what Preview showed: %s", w, err, bodies(r.spool.messages), shown)
	}
	r.emit(1)
	r.pass(59 * time.Minute)
	if len(r.spool.messages) != 1 {
		t.Errorf("the next window ended before its hour was over")
	}
	r.pass(time.Minute)
	if len(r.spool.messages) != 2 || r.spool.messages[1].Window != 2 || !strings.Contains(string(r.spool.messages[1].Body), `"n":1`) {
		t.Errorf("the next window was sealed as %s, want n of 1", bodies(r.spool.messages[1:]))
	}
}

// TestPreview looks a thousand times, and the window is sealed as if nobody
// had.
func TestPreview(t *testing.T) {
	r := newRig(t, newSpool(), collectorOf("a", "1.0.0"))
	r.emit(5)
	first := bodies(r.engine.Preview())
	for range 1000 {
		if got := bodies(r.engine.Preview()); got != first {
			t.Fatalf("Preview = %s, then %s", first, got)
		}
	}
	r.pass(time.Hour)
	if got := bodies(r.spool.messages); got != first {
		t.Errorf("sealed %s, want what Preview showed: %s", got, first)
	}
}

// TestDescribe tells of process and machine at the start of a window, and again
// where they are others when somebody asks: what is shown is what would be
// sealed.
func TestDescribe(t *testing.T) {
	c := collectorOf("a", "1.0.0")
	r := newRig(t, newSpool(), c)
	told := func(step string, want uint64) {
		t.Helper()
		if got := c.latest.launch; got != want {
			t.Errorf("%s: the collector was told of the launch %d times in this window, want %d", step, got, want)
		}
	}
	told("at the start", 1)
	r.engine.Preview()
	r.engine.Preview()
	told("shown twice", 1)
	r.launch.HTTPPayloadSizeLimit = 7
	r.engine.Preview()
	r.engine.Preview()
	told("shown twice after a change", 2)
	r.pass(time.Hour)
	told("in the next window", 1)
	r.launch.HTTPPayloadSizeLimit = 8
	failed := false
	c.observe = func() error {
		if failed {
			return nil
		}
		failed = true
		return errFake
	}
	r.engine.Preview()
	told("by another instance, after a fault", 1)
}

func TestRestart(t *testing.T) {
	spool := newSpool()
	r := newRig(t, spool, collectorOf("a", "1.0.0"))
	r.emit(5)
	r.engine.Handles().UserAgent("curl/8.0")
	r.pass(30 * time.Minute)
	r.emit(2) // which nobody keeps: the process is killed
	r.open(collectorOf("a", "1.0.0"))
	if got := r.engine.Handles().UserAgent("curl/8.0"); got != 2 {
		t.Errorf("the handle of a text is %d in the next process, want 2 as before", got)
	}
	r.emit(1)
	r.pass(29 * time.Minute)
	r.emit(4)
	r.engine.close() // in order
	if got := len(spool.messages); got != 0 {
		t.Fatalf("%d messages after 59 minutes in two processes, want none", got)
	}
	c := collectorOf("a", "1.0.0")
	r.open(c)
	r.pass(time.Minute)
	if got := bodies(spool.messages); !strings.Contains(got, `"n":10`) {
		t.Errorf("sealed %s, want the 5, 1 and 4 events that were kept", got)
	}
	r.engine.close()
	if c.alive != 0 {
		t.Errorf("%d instances are alive after close", c.alive)
	}
	spool.state = []byte(`{"window": 7, "began`)
	r.said = nil
	r.open(c)
	if len(r.said) == 0 {
		t.Error("a damaged state was taken without a word")
	}
	if got := r.engine.Status().Window; got != 2 {
		t.Errorf("after a damaged state the window is number %d, want 2: 1 was sealed", got)
	}
}

func TestSwap(t *testing.T) {
	one, two := collectorOf("a", "1.0.0"), collectorOf("a", "1.1.0")
	r := newRig(t, newSpool(), one)
	r.emit(3)
	r.engine.Use(t.Context(), []Collector{two})
	if one.alive != 0 || two.alive != 1 {
		t.Errorf("alive: %d of the old version and %d of the new one, want 0 and 1", one.alive, two.alive)
	}
	r.emit(2)
	// A version that cannot go on: what is there so far is sealed as it is.
	other := collectorOf("a", "2.0.0")
	other.noLoad = true
	r.engine.Use(t.Context(), []Collector{other})
	r.emit(1)
	two.noLoad = true
	r.engine.Use(t.Context(), []Collector{two})
	r.emit(7)
	r.engine.Use(t.Context(), nil)
	r.emit(9) // nobody is there
	r.pass(time.Hour)

	ids := map[string]bool{}
	var said []string
	for _, m := range r.spool.messages {
		if ids[m.ID] {
			t.Errorf("two messages have the id %s", m.ID)
		}
		ids[m.ID] = true
		_, n, _ := strings.Cut(string(m.Body), `"n":`)
		said = append(said, m.Version+" "+strings.TrimRight(n, "}"))
	}
	if got, want := strings.Join(said, ", "), "1.1.0 5, 2.0.0 1, 1.1.0 7"; got != want {
		t.Errorf("the window was sealed as %s, want %s", got, want)
	}
	if got := r.engine.Status().Lost; got != 18 {
		t.Errorf("%d events were lost, want the 18 that came when no collector was there", got)
	}
}

// TestHostile lets collectors go wrong. Their neighbour does not notice.
func TestHostile(t *testing.T) {
	record := func(metric uint16, tag abi.MetricTag, words ...uint64) func(bool) []byte {
		return func(bool) []byte { return abi.AppendMetric(nil, metric, tag, words...) }
	}
	count := 0
	tests := []struct {
		name  string
		wrong func(c *fakeCollector)
		said  string // of the log
		off   bool   // after three windows
		kept  string // what its message still has; empty: none
	}{
		{"trap in observe", func(c *fakeCollector) { c.observe = func() error { return errFake } }, "trap in parley_observe", true, ""},
		{"trap in flush", func(c *fakeCollector) { c.flush = func() error { return errFake } }, "trap", true, ""},
		{"no start", func(c *fakeCollector) { c.noStart = errFake }, "is off until the next start", true, ""},
		{"unknown metric", func(c *fakeCollector) { c.records = record(9, abi.TagInt, 1) }, "metric 9 is not in the manifest", true, `"gpu":false}`},
		{"wrong tag", func(c *fakeCollector) { c.records = record(0, abi.TagBool, 1) }, "metric bad.n", true, `"gpu":false}`},
		{"unknown tag", func(c *fakeCollector) { c.records = record(0, 99, 1) }, "has no value", true, `"gpu":false}`},
		{"huge length", func(c *fakeCollector) {
			c.records = func(bool) []byte { return []byte{0, 0, 3, 0, 255, 255, 255, 255} }
		}, "not metric records", true, `"gpu":false}`},
		{"twice", func(c *fakeCollector) {
			c.records = func(bool) []byte { return append(record(0, abi.TagInt, 1)(false), record(0, abi.TagInt, 1)(false)...) }
		}, "comes twice", true, `"gpu":false}`},
		{"bits of NaN", func(c *fakeCollector) { c.records = record(0, abi.TagInt, 0x7ff8000000000001) }, "is not within", true, `"gpu":false}`},
		{"a handle of its own", func(c *fakeCollector) {
			c.records = func(bool) []byte {
				return append(record(0, abi.TagInt, 1)(false), record(1, abi.TagHandles, 77)(false)...)
			}
		}, "no text for 77", true, `"gpu":false,"n":1}`},
		{"a constant", func(c *fakeCollector) {
			c.records = func(bool) []byte {
				return append(record(0, abi.TagInt, 1)(false), record(2, abi.TagBool, 1)(false)...)
			}
		}, "it is a constant", true, `"gpu":false,"n":1}`},
		{"unstable", func(c *fakeCollector) {
			c.records = func(bool) []byte { count++; return record(0, abi.TagInt, uint64(count))(false) }
		}, "answers otherwise", true, ""},
		{"a flood", func(c *fakeCollector) {
			c.records = func(bool) []byte { return bytes.Repeat(record(0, abi.TagInt, 1)(false), 100_000) }
		}, "and 99998 more", true, `"gpu":false}`},
		{"nothing", func(c *fakeCollector) { c.records = func(bool) []byte { return nil } }, "has no value", true, `"gpu":false}`},
		{"good", func(*fakeCollector) {}, "", false, `"n":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bad, good := collectorOf("bad", "1.0.0"), collectorOf("good", "1.0.0")
			tt.wrong(bad)
			r := newRig(t, newSpool(), bad, good)
			for range 3 {
				r.emit(2)
				r.pass(time.Hour)
			}
			status := r.engine.Status().Collectors
			if off := status[0].Off != ""; off != tt.off || status[1].Off != "" {
				t.Errorf("off = %q and %q, want the bad one off: %v", status[0].Off, status[1].Off, tt.off)
			}
			if tt.off && bad.alive != 0 {
				t.Errorf("%d instances of it are alive", bad.alive)
			}
			if said := strings.Join(r.said, "; "); !strings.Contains(said, tt.said) || tt.said == "" && said != "" {
				t.Errorf("the log says %.400q, want %q", said, tt.said)
			}
			var kept string
			goods := 0
			for _, m := range r.spool.messages {
				if m.Collector == "bad" && m.Window == 1 {
					_, kept, _ = strings.Cut(string(m.Body), `"bad":{`)
				}
				if m.Collector == "good" && strings.Contains(string(m.Body), `"n":2`) {
					goods++
				}
			}
			if tt.kept == "" && kept != "" || !strings.Contains(kept, tt.kept) {
				t.Errorf("its first window has %q, want %q", kept, tt.kept)
			}
			if goods != 3 {
				t.Errorf("its neighbour has %d windows with all events, want 3", goods)
			}
		})
	}
}

// TestFaultGoesOn has one fault: what was there at the checkpoint stays.
func TestFaultGoesOn(t *testing.T) {
	c := collectorOf("a", "1.0.0")
	r := newRig(t, newSpool(), c)
	r.emit(5)
	r.pass(2 * time.Minute)
	failed := false
	c.observe = func() error {
		if !failed {
			failed = true
			return errFake
		}
		return nil
	}
	r.emit(1)
	r.pass(time.Minute)
	r.emit(2)
	r.pass(time.Hour)
	if got := bodies(r.spool.messages); !strings.Contains(got, `"n":7`) {
		t.Errorf("sealed %s, want 7: all but the batch that it failed on", got)
	}
	if got := r.engine.Status().Collectors[0]; got.Faults != 1 || got.Off != "" {
		t.Errorf("Status = %+v, want one fault and not off", got)
	}
}

// TestSpoolFails: a full disk ends no window, and loses none.
func TestSpoolFails(t *testing.T) {
	r := newRig(t, newSpool(), collectorOf("a", "1.0.0"))
	r.emit(5)
	r.spool.fail = errors.New("no space left on device")
	r.pass(2 * time.Hour)
	if got := r.engine.Status(); got.Window != 1 || !got.Failing {
		t.Errorf("Status = %+v, want window 1, failing", got)
	}
	if len(r.said) != 1 || !strings.Contains(r.said[0], "no space left") {
		t.Errorf("the engine said %q, want one line", r.said)
	}
	r.emit(1)
	r.spool.fail = nil
	r.pass(2 * time.Minute)
	if got := bodies(r.spool.messages); !strings.Contains(got, `"n":6`) || len(r.spool.messages) != 1 {
		t.Errorf("sealed %s, want all 6 events in one window", got)
	}
}

// TestClock is set back, and forward.
func TestClock(t *testing.T) {
	r := newRig(t, newSpool(), collectorOf("a", "1.0.0"))
	r.emit(1)
	r.pass(30 * time.Minute)
	r.now = r.now.Add(-24 * time.Hour)
	r.pass(29 * time.Minute)
	if len(r.spool.messages) != 0 {
		t.Error("a window ended 59 minutes after it began, since the clock was set back")
	}
	r.pass(2 * time.Minute)
	if len(r.spool.messages) != 1 {
		t.Errorf("%d windows after an hour, want 1", len(r.spool.messages))
	}
	r.now = r.now.Add(1000 * time.Hour)
	r.pass(time.Minute)
	if got := r.engine.Status().Window; got != 3 {
		t.Errorf("window %d after the clock was set forward, want 3: one ended", got)
	}
}

func TestConflicts(t *testing.T) {
	a, same, through, kind := collectorOf("a", "1.0.0"), collectorOf("b", "1.0.0"), collectorOf("c", "1.0.0"), collectorOf("d", "1.0.0")
	same.manifest.Metrics[0].Path = "a.n"
	through.manifest.Metrics[0].Path = "a.n.deep"
	kind.manifest.Metrics[0] = abi.Metric{Path: "a.n", Kind: abi.MetricBool, NoData: abi.NoDataOmit}
	r := newRig(t, newSpool(), a, same, through, kind)
	got := r.engine.Status()
	if len(got.Collectors) != 2 || !strings.Contains(got.Refused["c"], "leads through") || !strings.Contains(got.Refused["d"], "is of kind int in collector a and bool here") {
		t.Errorf("Status = %+v, want a and b running, c and d refused", got)
	}
	r.pass(time.Hour)
	r.engine.Use(t.Context(), []Collector{kind})
	if got := r.engine.Status().Refused["d"]; !strings.Contains(got, "was of kind int before") {
		t.Errorf("a path of another kind than in the window before: %q, want a refusal", got)
	}
}

// TestLocalOnly: what is not to leave the machine is not in the spool.
func TestLocalOnly(t *testing.T) {
	a, mine := collectorOf("a", "1.0.0"), collectorOf("mine", "1.0.0")
	mine.outbound = false
	r := newRig(t, newSpool(), a, mine)
	r.pass(time.Hour)
	if len(r.spool.messages) != 1 || r.spool.messages[0].Collector != "a" {
		t.Errorf("the spool has %s, want the message of a alone", bodies(r.spool.messages))
	}
	if got := r.engine.Last(); got.Number != 1 || len(got.Messages) != 2 {
		t.Errorf("Last = %+v, want both collectors in window 1", got)
	}
	r.open(a, mine)
	if got := r.engine.Last(); got.Number != 1 || len(got.Messages) != 2 {
		t.Errorf("Last in the next process = %+v, want the same", got)
	}
}

// TestParts splits what is too long for one message.
func TestParts(t *testing.T) {
	c := collectorOf("a", "1.0.0")
	c.manifest.Metrics = nil
	var values []Value
	for i := range 900 {
		m := abi.Metric{Path: "p" + strings.Repeat("x", 50) + string(rune('a'+i/26%26)) + string(rune('a'+i%26)) + string(rune('a'+i/676)), Kind: abi.MetricInt}
		c.manifest.Metrics = append(c.manifest.Metrics, m)
		values = append(values, Value{&c.manifest.Metrics[i], int64(i)})
	}
	o := origin{instance, "e", 1, time.Unix(0, 0)}
	all, err := o.seal(c, 0, values)
	if err != nil || len(all) < 2 {
		t.Fatalf("seal = %d messages, %v, want some", len(all), err)
	}
	seen := map[string]any{}
	ids := map[string]bool{}
	for _, m := range all {
		if len(m.Body) > MaxMessage {
			t.Errorf("a message has %d bytes, want %d at most", len(m.Body), MaxMessage)
		}
		ids[m.ID] = true
		var w struct{ Properties map[string]any }
		if err := json.Unmarshal(m.Body, &w); err != nil {
			t.Fatal(err)
		}
		for k, v := range w.Properties {
			seen[k] = v
		}
	}
	if len(seen) != 900 || len(ids) != len(all) {
		t.Errorf("%d metrics in %d messages with %d ids, want all 900, each once", len(seen), len(all), len(ids))
	}
}

// TestTwins runs two workloads of one shape with other texts: not a byte
// differs.
func TestTwins(t *testing.T) {
	run := func(name string) string {
		r := newRig(t, newSpool(), collectorOf("a", "1.0.0"))
		r.engine.Handles().UserAgent(name + "/1.0 (" + name + ")")
		r.engine.FirstOfFacet("index of "+name, name)
		r.emit(3)
		state := func() string {
			r.engine.Tick(t.Context())
			return string(r.spool.state)
		}
		r.pass(2 * time.Minute)
		before := state()
		r.pass(time.Hour)
		return before + bodies(r.spool.messages) + state()
	}
	if a, b := run("jane@example.com"), run("5551234567"); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}

func TestNoEngine(t *testing.T) {
	var e *Engine
	if e.Ring() != nil || e.Handles() != nil || e.FirstOfFacet("a", "b") || e.Preview() != nil {
		t.Error("a nil engine answers something")
	}
	e.Use(t.Context(), nil)
	e.Run(t.Context())
}

func TestUUID(t *testing.T) {
	// The DNS namespace and name of RFC 9562, appendix A.4.
	dns, err := ParseUUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dns.Derive("www.example.com").String(), "2ed6657d-e927-568b-95e1-2665a8aea6a2"; got != want {
		t.Errorf("Derive = %s, want %s", got, want)
	}
	u := NewUUID()
	if got, err := ParseUUID(u.String()); got != u || err != nil || u.String()[14] != '4' {
		t.Errorf("ParseUUID(%s) = %s, %v, want it back, of version 4", u, got, err)
	}
	if _, err := ParseUUID("jane"); err == nil {
		t.Error("ParseUUID of jane: no error")
	}
}
