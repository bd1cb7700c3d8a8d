package framing

import (
	"errors"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// FuzzSSE checks that any chunks of any bytes give the same events and the same
// end as the whole.
func FuzzSSE(f *testing.F) {
	for _, s := range []string{
		"data: a\n\ndata: b\n\n",
		"\xef\xbb\xbfdata: a\r\ndata: b\r\n\r\nevent: x\rdata\r\r",
		": c\nid: 1\nretry: 5\ndata:  x\n\ndata: [DONE]",
		"data: a\n\n{\n \"error\": \"}\"\n}\n\ndata: b\n",
		"data: \xf0\x9f\x98\n\n{\"\xff",
		"event: t\n{\"a\":[1]} x\r\r\n\ndata",
		" \r\ndata:{\"a\":1}\r\r\ndata: 0123456789012345678901234567890123456789\n\n",
	} {
		f.Add([]byte(s), uint8(1), uint8(0))
		f.Add([]byte(s), uint8(5), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, a, b uint8) {
		fuzzFraming(t, Options{Framing: abi.FramingSSE, MaxEvent: 64}, in, a, b)
		fuzzFraming(t, Options{MaxEvent: 64}, in, a, b)
	})
}

// FuzzJSONArray is the same for arrays and for values one after another.
func FuzzJSONArray(f *testing.F) {
	for _, s := range []string{
		`[{"a":1},{"b":[2,3]}]`,
		"\xef\xbb\xbf[\n  {\n \"a\": \"}]\\\"\\\\\"\n}\n,\r\n[1],2,null]\n",
		`[]`, `[[[[`, `{"a":{"b":"c"}}{"d":1} 2`, "\"x\\\"y\"\n1\r\noops",
		"[{\"a\":\"\xff\xe2\x82\"}]", `[,]]]{}`,
		`[{"a":"012345678901234567890123456789012345678901234567890123456789"}]`,
	} {
		f.Add([]byte(s), uint8(1), uint8(0))
		f.Add([]byte(s), uint8(4), uint8(7))
	}
	f.Fuzz(func(t *testing.T, in []byte, a, b uint8) {
		fuzzFraming(t, Options{Framing: abi.FramingJSONArray, MaxEvent: 64}, in, a, b)
		fuzzFraming(t, Options{Framing: abi.FramingJSONLines, MaxEvent: 64}, in, a, b)
	})
}

// fuzzFraming frames in whole, by one byte, and in chunks of a and b bytes in
// turn.
func fuzzFraming(t *testing.T, o Options, in []byte, a, b uint8) {
	want, wantErr := cut(o, string(in))
	for _, e := range want {
		if !utf8.ValidString(e.data) || !utf8.ValidString(e.typ) {
			t.Errorf("%+v: event %q is not UTF-8", o, e)
		}
		// A replacement takes three bytes where one was.
		if len(e.data) > 3*o.MaxEvent {
			t.Errorf("%+v: an event of %d bytes, over the bound of %d", o, len(e.data), o.MaxEvent)
		}
	}
	for _, sizes := range [][2]int{{1, 1}, {int(a) + 1, int(b) + 1}} {
		var chunks []string
		for i, rest := 0, in; len(rest) > 0; i++ {
			n := min(sizes[i%2], len(rest))
			chunks = append(chunks, string(rest[:n]))
			rest = rest[n:]
		}
		got, err := cut(o, chunks...)
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %q in chunks of %v:\n got %q\nwant %q", o, in, sizes, got, want)
		}
		if kindOf(err) != kindOf(wantErr) {
			t.Errorf("%+v: %q in chunks of %v: error %v, want %v", o, in, sizes, err, wantErr)
		}
	}
}

// kindOf returns the kind of an UpstreamError, empty for nil.
func kindOf(err error) outbound.ErrorKind {
	e, ok := errors.AsType[*outbound.Error](err)
	switch {
	case ok:
		return e.Kind
	case err != nil:
		return "no UpstreamError"
	}
	return ""
}
