package logs

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

//parley:option log-level
func TestLevels(t *testing.T) {
	var out bytes.Buffer
	h, err := New(&out, JSON, "warn")
	if err != nil {
		t.Fatal(err)
	}
	log := h.Logger()
	say := func() string {
		out.Reset()
		log.Error().Msg("e")
		log.Warn().Msg("w")
		log.Info().Msg("i")
		log.Debug().Msg("d")
		log.Trace().Msg("t")
		var said []string
		for _, m := range []string{"e", "w", "i", "d", "t"} {
			if strings.Contains(out.String(), `"message":"`+m+`"`) {
				said = append(said, m)
			}
		}
		return strings.Join(said, "")
	}
	for _, tt := range []struct{ level, want string }{{"", "ew"}, {"trace", "ewidt"}, {"debug", "ewid"}, {"info", "ewi"}, {"error", "e"}, {"off", ""}} {
		if tt.level != "" {
			if err := h.SetLevel(tt.level); err != nil {
				t.Fatal(err)
			}
		}
		if got := say(); got != tt.want {
			t.Errorf("level %q: wrote %q, want %q", tt.level, got, tt.want)
		}
		if made, want := log.Debug() != nil, strings.Contains(tt.want, "d"); made != want {
			t.Errorf("level %q: a line at debug is made: %t, want %t", tt.level, made, want)
		}
	}
	if err := h.SetLevel("loud"); err == nil || !strings.Contains(err.Error(), "off, error, warn") {
		t.Errorf("SetLevel = %v, want an error with the levels", err)
	}
	if got := say(); got != "" {
		t.Errorf("after a wrong level: wrote %q, want it unchanged", got)
	}
}

func TestWatch(t *testing.T) {
	var out bytes.Buffer
	h, err := New(&out, Human, "error")
	if err != nil {
		t.Fatal(err)
	}
	var raw, read []string
	stopRaw, err := h.Watch("debug", JSON, func(b []byte) { raw = append(raw, string(b)) })
	if err != nil {
		t.Fatal(err)
	}
	stopRead, err := h.Watch("info", Human, func(b []byte) { read = append(read, string(b)) })
	if err != nil {
		t.Fatal(err)
	}
	log := h.Logger()
	log.Debug().Str("a", "b").Msg("one")
	log.Info().Str("a", "b").Msg("two")
	stopRaw()
	log.Info().Msg("three")
	stopRead()
	log.Info().Msg("four")
	if len(raw) != 2 || !strings.Contains(raw[0], `"a":"b"`) || !strings.Contains(raw[1], `"message":"two"`) {
		t.Errorf("watched as JSON: %q", raw)
	}
	if len(read) != 2 || !strings.Contains(read[0], "INF two a=b") || !strings.Contains(read[1], "three") {
		t.Errorf("watched as text: %q", read)
	}
	if out.Len() > 0 {
		t.Errorf("written although below its level: %q", out.String())
	}
	if _, err := h.Watch("loud", JSON, nil); err == nil {
		t.Error("Watch takes a level that is none")
	}
}

func TestHammerWatch(t *testing.T) {
	var out bytes.Buffer
	h, err := New(&out, JSON, "info")
	if err != nil {
		t.Fatal(err)
	}
	log := h.Logger()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				stop, err := h.Watch("debug", Human, func([]byte) {})
				if err != nil {
					t.Error(err)
					return
				}
				log.Debug().Msg("x")
				log.Info().Msg("y")
				stop()
			}
		})
	}
	wg.Wait()
	if got := strings.Count(out.String(), "\n"); got != 400 {
		t.Errorf("%d lines, want 400 whole ones", got)
	}
}

// A line that nobody wants costs no more than its making.
func BenchmarkUnwanted(b *testing.B) {
	h, err := New(&bytes.Buffer{}, JSON, "warn")
	if err != nil {
		b.Fatal(err)
	}
	log := h.Logger()
	b.ReportAllocs()
	for b.Loop() {
		log.Info().Str("route", "/x").Int("status", 200).Msg("request")
	}
}
