package abi

import "encoding/binary"

// The stages at which a guard may stand, as manifests and settings name them.
const (
	StageQuestion  = "question"  // what goes to the model of the client's messages; whole
	StagePassages  = "passages"  // what a search has found; whole
	StageArguments = "arguments" // those of a call of a client's tool; whole
	StageAnswer    = "answer"    // the model's text, as it comes
	StageReasoning = "reasoning" // the model's reasoning, as it comes
)

// Stages are all stages; the number of one in a call is its place here, from 1.
var Stages = []string{StageQuestion, StagePassages, StageArguments, StageAnswer, StageReasoning}

// Flags of a guard call.
const (
	GuardFirst = 1 << 0 // first call of this stage in this text, or list of items
	GuardLast  = 1 << 1 // nothing follows: what is held must be released or edited
)

// GuardKinds are what an item may be; the number of one in a call is its place here,
// from 1.
var GuardKinds = []string{"system", "user", "assistant", "tool", "title", "url", "text", "arguments", "answer", "reasoning"}

// Numbers of [GuardKinds].
const (
	ItemSystem uint32 = iota + 1
	ItemUser
	ItemAssistant
	ItemTool
	ItemTitle
	ItemURL
	ItemText
	ItemArguments
	ItemAnswer
	ItemReasoning
)

// Bounds of what a guard says.
const (
	MaxHoldBack     = 4 << 10 // bytes of [Manifest.HoldBack]
	MaxTriggers     = 16
	MaxTrigger      = 64 // bytes of a literal
	MaxNotes        = 64 // labels of [Manifest.Notes]
	MaxBlockMessage = 1 << 10
	// MaxGrowth is how much longer a call may make its texts, in bytes, beside
	// making them four times as long.
	MaxGrowth = 64 << 10
)

// A Trigger says without which a guard need not see a piece of a stream. One of the
// members is set.
type Trigger struct {
	Bytes  string `json:"bytes,omitempty"`  // one of these ASCII characters: "0-9@"
	Text   string `json:"text,omitempty"`   // this text, at most [MaxTrigger] bytes
	Option string `json:"option,omitempty"` // anything, where this option is set and not its default
}

// A GuardKind says what a record's payload is. Kinds that a host does not know are
// skipped.
type GuardKind uint8

// The kinds of a guard's records.
const (
	// GuardRelease: u32 bytes: of a stream's text as the call has it, so many may go
	// out, from its beginning.
	GuardRelease GuardKind = 1
	// GuardEdit: u32 item, u32 start, u32 length, and the replacement in the rest. In a
	// stream it releases what is before its end.
	GuardEdit GuardKind = 2
	// GuardBlock: u32 item, u8 how ([BlockRefusal] or [BlockError]), 3 zeros, and the
	// message in the rest.
	GuardBlock GuardKind = 3
	// GuardNote: u32 the place of a label in [Manifest.Notes], from 0.
	GuardNote GuardKind = 4
)

// How an answer ends by a [GuardBlock].
const (
	BlockRefusal = 1 // the message is the assistant's refusal
	BlockError   = 2 // the request fails with content_blocked
)

// An Item is one text of a guard call.
type Item struct {
	Kind uint32 // a number of [GuardKinds]
	Text []byte // UTF-8
}

// AppendGuardInput appends the input of a guard call to b, all numbers
// little-endian; stage is a name of [Stages]:
//
//	u8 stage, u8 flags, u16 0 | u32 count | u32 len, options | u32 len, state | count × (u32 kind, u32 len, text)
func AppendGuardInput(b []byte, stage string, flags byte, options, state []byte, items []Item) []byte {
	number := 0
	for i, s := range Stages {
		if s == stage {
			number = i + 1
		}
	}
	b = append(b, byte(number), flags, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(items)))
	b = appendBytes(appendBytes(b, options), state)
	for _, item := range items {
		b = appendBytes(binary.LittleEndian.AppendUint32(b, item.Kind), item.Text)
	}
	return b
}

// A GuardCall is a guard call's input, read in place: its slices are parts of what
// it was parsed from.
type GuardCall struct {
	Stage   uint8 // its place in [Stages], from 1; a guest skips others
	Flags   byte
	Options []byte // a JSON object
	State   []byte
	rest    []byte
	left    uint32
}

// ParseGuardInput reads the head of b; [GuardCall.Next] reads the items.
func ParseGuardInput(b []byte) (GuardCall, error) {
	var in GuardCall
	if len(b) < 8 {
		return in, ErrMalformed
	}
	in.Stage, in.Flags, in.left = b[0], b[1], binary.LittleEndian.Uint32(b[4:])
	var ok bool
	if in.Options, b, ok = cutBytes(b[8:]); !ok {
		return in, ErrMalformed
	}
	if in.State, in.rest, ok = cutBytes(b); !ok {
		return in, ErrMalformed
	}
	return in, nil
}

// Next returns the next item; ok is false after the last one or where the input
// ends early.
func (in *GuardCall) Next() (item Item, ok bool) {
	if in.left == 0 || len(in.rest) < 4 {
		return item, false
	}
	item.Kind = binary.LittleEndian.Uint32(in.rest)
	if item.Text, in.rest, ok = cutBytes(in.rest[4:]); ok {
		in.left--
	}
	return item, ok
}

// GuardOutput cuts a guard call's output in two: the new state (u32 len, bytes) and
// the records after it, of the form that [NextRecord] reads.
func GuardOutput(b []byte) (state, records []byte, err error) { return DecodeOutput(b) }

// AppendRelease appends a [GuardRelease].
func AppendRelease(b []byte, n int) []byte {
	return binary.LittleEndian.AppendUint32(AppendHead(b, RecordKind(GuardRelease), 4), uint32(n))
}

// AppendEdit appends a [GuardEdit].
func AppendEdit[T string | []byte](b []byte, item, start, length int, replacement T) []byte {
	b = AppendHead(b, RecordKind(GuardEdit), 12+len(replacement))
	for _, n := range [...]int{item, start, length} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return append(b, replacement...)
}

// AppendBlock appends a [GuardBlock].
func AppendBlock(b []byte, item int, how uint8, message string) []byte {
	b = AppendHead(b, RecordKind(GuardBlock), 8+len(message))
	b = binary.LittleEndian.AppendUint32(b, uint32(item))
	return append(append(b, how, 0, 0, 0), message...)
}

// AppendNote appends a [GuardNote].
func AppendNote(b []byte, label int) []byte {
	return binary.LittleEndian.AppendUint32(AppendHead(b, RecordKind(GuardNote), 4), uint32(label))
}

// verdictHeads are the bytes that a payload has at least, by kind.
var verdictHeads = [...]int{GuardRelease: 4, GuardEdit: 12, GuardBlock: 8, GuardNote: 4}

// A Verdict is a record of a guard, read in place.
type Verdict struct {
	Kind                GuardKind
	Item, Start, Length uint32 // of an edit; Item of a block, too
	Replacement         []byte // of an edit
	How                 uint8  // of a block
	Message             []byte // of a block
	Released            uint32 // bytes, of a release
	Label               uint32 // of a note
}

// NextVerdict cuts the first record off b, as [NextRecord] does.
func NextVerdict(b []byte) (v Verdict, rest []byte, ok bool, err error) {
	r, rest, ok, err := NextRecord(b)
	if err != nil || !ok {
		return v, rest, ok, err
	}
	v.Kind = GuardKind(r.Kind)
	p := r.Payload
	if int(v.Kind) < len(verdictHeads) && len(p) < verdictHeads[v.Kind] {
		return v, rest, false, ErrMalformed
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(p[4*i:]) }
	switch v.Kind {
	case GuardRelease:
		v.Released = word(0)
	case GuardEdit:
		v.Item, v.Start, v.Length, v.Replacement = word(0), word(1), word(2), p[12:]
	case GuardBlock:
		v.Item, v.How, v.Message = word(0), p[4], p[8:]
	case GuardNote:
		v.Label = word(0)
	}
	return v, rest, true, nil
}

// Whole reports whether Next has returned all items, and nothing follows the last one.
func (in *GuardCall) Whole() bool { return in.left == 0 && len(in.rest) == 0 }
