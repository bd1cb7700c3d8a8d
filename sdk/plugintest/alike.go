package plugintest

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// RunAlike holds a provider that recognises events by a pattern to the same one
// that reads each in full: fast to full, on a few thousand streams of events
// that are like the ones given, and of such that are so but for a number, an
// escape, a member or a byte. A stream begins with the events start, which are
// as they are, and ends with those of end.
func RunAlike(t *testing.T, fast, full *Driver, start, events, end []abi.Event) {
	t.Helper()
	for seed := range uint64(4000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		stream := append([]abi.Event(nil), start...)
		e := events[rnd.IntN(len(events))]
		for range 6 {
			switch rnd.IntN(4) {
			case 0:
				e = events[rnd.IntN(len(events))]
			case 1:
				e.Data = Alike(rnd, e.Data)
			}
			stream = append(stream, abi.Event{Type: e.Type, Data: Alike(rnd, e.Data)})
		}
		stream = append(stream, end...)
		want := comesTo(t, full.Stream(), stream)
		if got := comesTo(t, fast.Stream(), stream); !reflect.DeepEqual(got, want) {
			t.Fatalf("stream %d: by patterns %+v, read in full %+v, of the events %s", seed, got, want, stream)
		}
		s := fast.patternStream()
		if got := comesTo(t, s, stream); !reflect.DeepEqual(got, want) {
			t.Fatalf("stream %d: by the host's patterns %+v, read in full %+v, of the events %s", seed, got, want, stream)
		}
	}
}

// RunPatterns holds a stream of which the host makes records by the provider's
// patterns to the same one without them, and the number of events that the host
// matched to matched.
func RunPatterns(t *testing.T, d *Driver, matched int, events ...abi.Event) {
	t.Helper()
	s := d.patternStream()
	if got, want := comesTo(t, s, events), comesTo(t, d.Stream(), events); !reflect.DeepEqual(got, want) {
		t.Errorf("by the host's patterns %+v, without them %+v", got, want)
	}
	if s.matched != matched {
		t.Errorf("the host matched %d events, want %d", s.matched, matched)
	}
}

// comesTo returns what a stream comes to.
func comesTo(t *testing.T, s *Stream, events []abi.Event) any {
	t.Helper()
	for _, e := range events {
		if err := s.Decode(0, e); err != nil {
			t.Fatalf("%v at the event %s", err, e.Data)
		}
	}
	if err := s.Decode(abi.FlagLast); err != nil {
		t.Fatal(err)
	}
	return s.Aggregate
}

var (
	stringToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	numberToken = regexp.MustCompile(`\b\d+\b`)
)

// Alike returns a JSON document with a small change somewhere, which may keep it
// from being one.
func Alike(rnd *rand.Rand, doc []byte) []byte {
	s := string(doc)
	i := rnd.IntN(len(s) + 1)
	j := min(i+1+rnd.IntN(8), len(s))
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	switch rnd.IntN(12) {
	case 0, 1, 2, 3:
		s = exchangeToken(rnd, s, stringToken, `"`+pick("", "text", " word", `a\nb`, `\"`, `\\`, `\\\"`, "é", `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\u12`, `\x`, `\`, `"`, "\x01", "\n", "\xff", "{", ",")+`"`)
	case 4, 5, 6, 7:
		s = exchangeToken(rnd, s, numberToken, pick("0", "7", "18", "00", "007", "-3", "+3", "1.5", "1.0", "2e3", "1E+2", "999999999999999999", "1000000000000000000", "18446744073709551617", "5 ", `"12"`, "null", ""))
	case 8:
		s = s[:i] + pick(" ", "\n", "   ", "\t") + s[i:]
	case 9:
		if at := strings.IndexAny(s[i:], "{}"); at >= 0 {
			at += i
			member := pick(`"more":1`, `"text":"t"`, `"index":1`, `"more":"}"`, `"usage":{}`)
			if s[at] == '{' {
				s = s[:at+1] + member + pick(",", "") + s[at+1:]
			} else {
				s = s[:at] + "," + member + s[at:]
			}
		}
	case 10:
		s = s[:i] + pick("", s[i:j]+s[i:j], "}", "]") + s[j:]
	case 11:
		s = s[:i]
	}
	return []byte(s)
}

// exchangeToken puts text in the place of one of the tokens of s.
func exchangeToken(rnd *rand.Rand, s string, token *regexp.Regexp, text string) string {
	all := token.FindAllStringIndex(s, -1)
	if len(all) == 0 {
		return s
	}
	at := all[rnd.IntN(len(all))]
	return s[:at[0]] + text + s[at[1]:]
}
