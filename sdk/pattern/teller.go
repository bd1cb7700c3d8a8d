package pattern

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A Teller tells the host of events that are like the last one of a call: for a
// provider that reads each in full, and whose state has no pattern. Tell it of
// each event by Begin, and of what was found by the other methods: an event of
// one text, and values that do not matter, is one that the host can do without
// decode. It is scratch memory: keep one in the provider's value.
type Teller struct {
	reading  Reading
	kind     abi.RecordKind
	typ      []byte
	texts    int
	state    State
	literals []byte
	told     abi.Pattern
}

// What is told has in its holes.
const (
	tellerSkip = uint8(1 + iota)
	tellerText
)

// Begin takes the next event. It is good until the call ends.
func (t *Teller) Begin(typ, data []byte) {
	t.reading.Begin(data)
	t.typ, t.texts = typ, 0
}

// Text tells of a text of the answer, of reasoning or a refusal, as it stands in
// the event. One that is empty says nothing of those to come.
func (t *Teller) Text(kind abi.RecordKind, v rawjson.Value) {
	if v.Kind() == rawjson.String && len(v) > 2 {
		t.kind = kind
		t.texts++
		t.reading.String(tellerText, v)
	}
}

// Skip tells of a value that changes from event to event and does not matter.
func (t *Teller) Skip(v rawjson.Value) { t.reading.Vary(tellerSkip, v) }

// Spoil says that something else came of the event, or may come of it later.
func (t *Teller) Spoil() { t.reading.Spoil() }

// Pattern returns the pattern of the last event; nil where it makes none.
func (t *Teller) Pattern() *abi.Pattern {
	if t.texts != 1 {
		return nil
	}
	literals, ok := t.reading.Learn(&t.state, t.literals[:0])
	if !ok {
		return nil
	}
	t.literals = literals
	t.told.Kind, t.told.Type = t.kind, t.typ
	if _, ok := t.state.Tell(literals, tellerSkip, &t.told); !ok {
		return nil
	}
	return &t.told
}
