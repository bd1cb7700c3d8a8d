// Package pattern makes records of events that a guest need not see: those of
// the pattern that it told the host of, as the contract has it.
package pattern

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
)

// maxEvent is how long an event may be: beyond it the limits of the plugin are
// what matters.
const maxEvent = 64 << 10

// A Matcher has the pattern of one response. Its zero value has none.
type Matcher struct {
	pattern abi.Pattern // parts of payload
	payload []byte
	known   bool

	events, text uint64 // that were matched, and bytes of their text
	counts       []uint64
}

// LearnFrom takes the pattern among the records of a decode call, if there is one;
// told says so. The error is [abi.ErrMalformed], of a payload that is no pattern:
// nothing is matched then. What is no record is for whoever reads the records.
func (m *Matcher) LearnFrom(records []byte) (told bool, err error) {
	for len(records) > 0 {
		r, rest, _, bad := abi.NextRecord(records)
		if bad != nil {
			break
		}
		if r.Kind == abi.RecordPattern {
			told = true
			if err := m.learn(r.Payload); err != nil {
				return told, err
			}
		}
		records = rest
	}
	return told, nil
}

// learn takes the payload of a [abi.RecordPattern].
func (m *Matcher) learn(payload []byte) error {
	m.forget()
	m.payload = append(m.payload[:0], payload...)
	err := abi.Record{Kind: abi.RecordPattern, Payload: m.payload}.Pattern(&m.pattern)
	m.known = err == nil
	return err
}

// BeginCall gives up the pattern, since decode is called with rest, and returns what
// it is called with: in front of rest the report of what was matched, where the
// pattern asks for it.
func (m *Matcher) BeginCall(rest []abi.Event) []abi.Event {
	if report, ok := m.report(); ok {
		rest = append([]abi.Event{report}, rest...)
	}
	m.forget()
	return rest
}

func (m *Matcher) forget() { m.known, m.events, m.text = false, 0, 0 }

// AppendRecords appends to b the records of the events of the pattern that
// events begin with, and returns the others, which are for decode.
func (m *Matcher) AppendRecords(b []byte, events []abi.Event) (records []byte, rest []abi.Event) {
	for m.known && len(events) > 0 {
		text, ok := m.match(&events[0])
		if !ok {
			break
		}
		events = events[1:]
		m.events++
		m.text += uint64(len(text))
		switch {
		case len(text) == 0: // is worth no record
		case m.pattern.Kind == abi.RecordToolArguments:
			b = abi.AppendToolArguments(b, int(m.pattern.Index), text)
		default:
			b = abi.AppendRecord(b, m.pattern.Kind, text)
		}
	}
	return b, events
}

// report returns the event that the next call begins with: what was matched,
// where the pattern asks for it and anything was.
func (m *Matcher) report() (e abi.Event, ok bool) {
	if !m.known || !m.pattern.Report || m.events == 0 {
		return e, false
	}
	return abi.Event{Type: abi.EventMatched, Data: abi.AppendMatched(nil, m.events, m.text, m.counts)}, true
}

// match returns the text of an event, and whether it is of the pattern.
func (m *Matcher) match(e *abi.Event) (text []byte, ok bool) {
	p := &m.pattern
	// The end first: where two events begin alike, it mostly tells.
	if len(e.Data) > maxEvent || e.Type != string(p.Type) || !bytes.HasSuffix(e.Data, p.Tail) {
		return nil, false
	}
	end, at := len(e.Data)-len(p.Tail), 0
	var counts [abi.MaxHoles]uint64
	counted := counts[:0]
	for i := range p.Holes {
		h := &p.Holes[i]
		if !bytes.HasPrefix(e.Data[at:end], h.Before) {
			return nil, false
		}
		at += len(h.Before)
		n := 0
		switch h.What {
		case abi.HoleText:
			text, n = readText(e.Data, at)
		case abi.HoleString:
			_, n = readText(e.Data, at)
		case abi.HoleSpaces:
			n = end - at - len(bytes.TrimLeft(e.Data[at:end], " "))
		default:
			var count uint64
			if count, n = readDigits(e.Data[at:end]); h.What == abi.HoleCount {
				if count == 0 {
					return nil, false
				}
				counted = append(counted, count)
			}
		}
		if at += n; n < 0 || at > end {
			return nil, false
		}
	}
	if at < end {
		return nil, false
	}
	m.counts = append(m.counts[:0], counted...)
	return text, true
}

// readText reads the string whose opening quote stands before data[at]: its text,
// and how long it is without the quotes, -1 where it is none that is right. One
// that is not UTF-8 is for the guest to mend.
func readText(data []byte, at int) (text []byte, n int) {
	if n = endOfString(data[at:]); n < 0 {
		return nil, -1
	}
	text = data[at : at+n]
	if bytes.IndexByte(text, '\\') >= 0 {
		var s string
		if json.Unmarshal(data[at-1:at+n+1], &s) != nil {
			return nil, -1
		}
		text = []byte(s)
	}
	if !utf8.Valid(text) {
		return nil, -1
	}
	return text, n
}

// endOfString returns where the closing quote of a string stands, given what
// follows its opening one; -1 where there is none.
func endOfString(b []byte) int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		slashes := 0
		for slashes < i && b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// readDigits reads the whole number that b begins with: n is how long it is, -1
// where there is none, or one that no hole is for.
func readDigits(b []byte) (count uint64, n int) {
	for n < len(b) && n <= abi.MaxDigits && b[n] >= '0' && b[n] <= '9' {
		count = count*10 + uint64(b[n]-'0')
		n++
	}
	if n == 0 || n > abi.MaxDigits || b[0] == '0' && n > 1 {
		return 0, -1
	}
	return count, n
}
