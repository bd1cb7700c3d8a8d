package framing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// An event as a test writes it.
type event struct{ typ, data string }

// cut frames the chunks and returns copies of all events, with the error that
// ended them.
func cut(o Options, chunks ...string) ([]event, error) {
	f := New(o)
	var out []event
	keep := func(events []abi.Event) {
		for _, e := range events {
			out = append(out, event{e.Type, string(e.Data)})
		}
	}
	for _, c := range chunks {
		events, err := f.Feed([]byte(c))
		keep(events)
		if err != nil {
			return out, err
		}
	}
	events, err := f.End()
	keep(events)
	return out, err
}

// bytewise splits s into chunks of n bytes.
func bytewise(s string, n int) []string {
	var out []string
	for c := range slices.Chunk([]byte(s), n) {
		out = append(out, string(c))
	}
	return out
}

type framingTest struct {
	name string
	in   string
	want []event
}

// checkFraming frames each input whole, byte by byte and split in two at every
// offset.
func checkFraming(t *testing.T, o Options, tests []framingTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check := func(how string, chunks ...string) {
				t.Helper()
				got, err := cut(o, chunks...)
				if err != nil {
					t.Errorf("%s: %q: error %v, want none", how, tt.in, err)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("%s: %q:\n got %q\nwant %q", how, tt.in, got, tt.want)
				}
			}
			check("whole", tt.in)
			check("by 1 byte", bytewise(tt.in, 1)...)
			for i := range tt.in {
				check(fmt.Sprintf("split at %d", i), tt.in[:i], tt.in[i:])
			}
		})
	}
}

func data(list ...string) []event {
	out := make([]event, len(list))
	for i, s := range list {
		out[i] = event{data: s}
	}
	return out
}

func TestAuto(t *testing.T) {
	tests := []struct {
		name, contentType string
		in                string
		want              []event
	}{
		{"SSE", "text/event-stream; charset=utf-8", "data: [1]\n\n", data("[1]")},
		{"SSE without a content type", "", "data: a\n\n", data("a")},
		{"SSE as JSON", "application/json", "data: a\n\n", data("a")},
		{"SSE as HTML", "text/html", "event: a\ndata: a\n\n", []event{{"a", "a"}}},
		{"SSE after a comment", "application/json", ": x\n\ndata: a\n\n", data("a")},
		{"array", "application/json", " \n[1,\n2]", data("1", "2")},
		{"array as SSE", "text/event-stream", "[{},{}]", data("{}", "{}")},
		{"values", "application/json", "{\"a\":\n1}\n{}", data("{\"a\":\n1}", "{}")},
		{"values without a content type", "", "{}{}", data("{}", "{}")},
		{"object as SSE", "text/event-stream", "{\"error\":\n1}\n\ndata: a\n\n", data("{\"error\":\n1}", "a")},
		{"string", "application/problem+json", `"no"`, data(`"no"`)},
		{"plain text", "text/plain", "upstream gone\n", nil},
		{"space only", "", strings.Repeat(" ", 3000), nil},
		{"after much space", "", strings.Repeat("\n", 3000) + "data: a\n\n", data("a")},
	}
	for _, tt := range tests {
		checkFraming(t, Options{ContentType: tt.contentType}, []framingTest{{tt.name, tt.in, tt.want}})
	}
}

func TestFramerRefuses(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		in   string
		want []event // before the error
		kind outbound.ErrorKind
		text string
	}{
		{"HTML", Options{}, "\r\n <!doctype html><title>x</title>", nil, outbound.Broken, "HTML"},
		{"HTML as SSE", Options{Framing: abi.FramingSSE}, "<html>", nil, outbound.Broken, "HTML"},
		{"HTML without a tag", Options{ContentType: "text/html"}, "Bad Gateway", nil, outbound.Broken, "HTML"},
		{"long line", Options{MaxEvent: 16}, "data: a\n\ndata: 0123456789abcdef\n\n", data("a"), outbound.TooLong, "16 bytes"},
		{"long line without an end", Options{MaxEvent: 16}, "data: a\n\ndata: 0123456789abcdef", data("a"), outbound.TooLong, "16 bytes"},
		{"many lines", Options{MaxEvent: 16}, "data: a\n\n" + strings.Repeat("data: 0123\n", 4), data("a"), outbound.TooLong, "16 bytes"},
		{"long bare value", Options{MaxEvent: 16, Framing: abi.FramingSSE}, "{\n" + strings.Repeat("\"a\": 1,\n", 4), nil, outbound.TooLong, "16 bytes"},
		{"long value", Options{MaxEvent: 16}, `{"a":1}{"a":"0123456789abcdef"}`, data(`{"a":1}`), outbound.TooLong, "16 bytes"},
		{"long value without an end", Options{MaxEvent: 16}, `[{"a":1},{"a":"0123456789abcdef`, data(`{"a":1}`), outbound.TooLong, "16 bytes"},
		{"array without an end", Options{}, `[{"a":1},`, data(`{"a":1}`), outbound.Broken, "middle of a JSON value"},
		{"value without an end", Options{}, `{"a":1}{"b":`, data(`{"a":1}`), outbound.Broken, "middle of a JSON value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, chunks := range [][]string{{tt.in}, bytewise(tt.in, 1), bytewise(tt.in, 3)} {
				got, err := cut(tt.o, chunks...)
				if !slices.Equal(got, tt.want) {
					t.Errorf("%d chunks: events %q before the error, want %q", len(chunks), got, tt.want)
				}
				e, ok := errors.AsType[*outbound.Error](err)
				if !ok || e.Kind != tt.kind || !strings.Contains(e.Message, tt.text) {
					t.Errorf("%d chunks: error %v, want kind %s with %q", len(chunks), err, tt.kind, tt.text)
				}
			}
		})
	}
}

// TestFramerStaysSmall feeds what never becomes an event: the buffer must not
// grow with it.
func TestFramerStaysSmall(t *testing.T) {
	for _, in := range []string{": comment\n", "\n", "id: 1\n", "event: x\r"} {
		f := New(Options{Framing: abi.FramingSSE})
		if _, err := f.Feed([]byte("data: a\n")); err != nil {
			t.Fatal(err)
		}
		for range 200_000 {
			p := f.Room()
			if _, err := f.Take(copy(p, in)); err != nil {
				t.Fatal(err)
			}
		}
		if got, most := cap(f.buf), 2*firstBuffer; got > most {
			t.Errorf("after 200000 × %q the buffer has %d bytes, want at most %d", in, got, most)
		}
	}
}

// TestFramerRests has two framers rest before each of their pieces, in turns, so that
// each has the buffer that the other one left: both find what they do without.
func TestFramerRests(t *testing.T) {
	for _, framing := range []string{abi.FramingSSE, abi.FramingJSONLines, abi.FramingJSONArray} {
		value := func(n int) string { return fmt.Sprintf(`{"n":%d,"text":%q}`, n, strings.Repeat("x", n%7*400)) }
		body := func(from int) string {
			var all []string
			for n := range 40 {
				all = append(all, value(from+n))
			}
			switch framing {
			case abi.FramingSSE:
				return "event: e\r\ndata: " + strings.Join(all, "\r\n\r\ndata: ") + "\r\n\r\n"
			case abi.FramingJSONLines:
				return strings.Join(all, "\n") + "\n"
			}
			return "[" + strings.Join(all, ",\n") + "]"
		}
		for _, size := range []int{1, 7, 100, 1400, 9000} {
			fs := []*Framer{New(Options{Framing: framing}), New(Options{Framing: framing})}
			rest := []string{body(0), body(1000)}
			var got [2][]string
			for len(rest[0])+len(rest[1]) > 0 {
				for i, f := range fs {
					f.Rest()
					n := copy(f.Room(), rest[i][:min(size, len(rest[i]))])
					rest[i] = rest[i][n:]
					events, err := f.Take(n)
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range events {
						got[i] = append(got[i], string(e.Data))
					}
				}
			}
			for i, f := range fs {
				if f.Rest(); size < filledBuffer && f.room != nil {
					t.Errorf("%s by %d bytes: a buffer is held where nothing waits", framing, size)
				}
				for n := range 40 {
					if len(got[i]) != 40 || got[i][n] != value(i*1000+n) {
						t.Fatalf("%s by %d bytes: framer %d found %d events, event %d is %.40q", framing, size, i, len(got[i]), n, got[i][min(n, len(got[i])-1)])
					}
				}
			}
		}
	}
}

// TestFramerGrowsWhenFilled reads events one by one, which need little, and then
// as much as there is room for.
func TestFramerGrowsWhenFilled(t *testing.T) {
	const event = "data: a word and what stands around it\n\n"
	f := New(Options{Framing: abi.FramingSSE})
	read := func(in string) {
		t.Helper()
		p := f.Room()
		if _, err := f.Take(copy(p, in)); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		read(event)
	}
	if got := cap(f.buf); got != firstBuffer {
		t.Errorf("after events that came one by one the buffer has %d bytes, want %d", got, firstBuffer)
	}
	many := strings.Repeat(event, 1000)
	for range 3 {
		read(many)
	}
	if got := len(f.Room()); got < filledBuffer/2 {
		t.Errorf("after reads that filled it the buffer has room for %d bytes, want at least %d", got, filledBuffer/2)
	}
}

// TestFramerLargeEvents checks a line of megabytes that comes in small pieces
// and that the buffer grows no further than it must.
func TestFramerLargeEvents(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	in := "data: " + long + "\n\ndata: " + long + "\n\ndata: a\n\n"
	got, err := cut(Options{}, bytewise(in, 1000)...)
	if err != nil || !slices.Equal(got, data(long, long, "a")) {
		t.Errorf("events of 3 MiB: %d events, error %v; want 3 and none", len(got), err)
	}
}

// TestFramerAllocs checks that a stream under way costs no allocation.
func TestFramerAllocs(t *testing.T) {
	block := []byte(strings.Repeat("event: delta\ndata: {\"x\":1}\ndata: {\"y\":2}\n\n: ping\n\n", 20))
	values := []byte(strings.Repeat("{\"x\":{\"y\":\"z\"}}\n", 20))
	for _, tt := range []struct {
		framing string
		in      []byte
	}{{abi.FramingSSE, block}, {abi.FramingJSONLines, values}} {
		f := New(Options{Framing: tt.framing})
		got := testing.AllocsPerRun(100, func() {
			for p := range slices.Chunk(tt.in, 97) {
				if _, err := f.Take(copy(f.Room(), p)); err != nil {
					t.Fatal(err)
				}
			}
		})
		if got != 0 {
			t.Errorf("%s: %v allocations for 20 events, want 0", tt.framing, got)
		}
	}
}
