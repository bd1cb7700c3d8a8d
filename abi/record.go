package abi

import "encoding/binary"

// A RecordKind says what a record's payload is. Kinds that a host does not
// know are skipped.
type RecordKind uint8

// The kinds of record. Text is UTF-8.
const (
	RecordText      RecordKind = 1 // text of the answer
	RecordReasoning RecordKind = 2 // text of the model's reasoning
	RecordRefusal   RecordKind = 3 // text of a refusal
	// RecordToolStart opens a tool call: u32 index, u32 len, id, and the name
	// in the rest. Indexes count from 0 without a gap.
	RecordToolStart RecordKind = 4
	// RecordToolArguments continues one: u32 index, then a piece of the
	// arguments' JSON text.
	RecordToolArguments RecordKind = 5
	// RecordFinish holds OpenAI's finish reason: stop, length, tool_calls or
	// content_filter. Once, after all content.
	RecordFinish RecordKind = 6
	// RecordUsage holds u64 each: prompt, completion, total, cached, reasoning
	// tokens; then perhaps a JSON object of what else the provider counts, as
	// members of OpenAI's usage. The last one of a response counts, of each part.
	RecordUsage RecordKind = 7
	// RecordError holds a [ProviderError] as JSON. Nothing follows it.
	RecordError RecordKind = 8
	// RecordResponse says how the provider names things: u32 len, response id,
	// and the model in the rest; either may be empty.
	RecordResponse RecordKind = 9
	// RecordCarry holds opaque bytes that encode is given in later rounds. The
	// records of one round are joined; [MaxCarry] bounds them.
	RecordCarry RecordKind = 10
	// RecordExtra holds a JSON object that is merged into the delta. Right
	// behind a [RecordToolStart], {"tool_calls":[{…}]} adds to that call.
	RecordExtra RecordKind = 11
	// RecordOuter holds members of the chunk around the delta, as a JSON object
	// {"chunk": {…}, "choice": {…}}, either of which may be missing: those of the
	// chunk stand in each chunk from here on, those of the choice in the next one.
	RecordOuter RecordKind = 12
	// RecordPattern holds a [Pattern]: until the next call of decode for this
	// response the host makes the records of events of it by itself. Only
	// where the input had [FlagPatterns].
	RecordPattern RecordKind = 13
	// RecordAgain holds an [Again], u32 milliseconds, u32 flags: the response is one step of the round, and
	// encode is asked for another request. Nothing of the response is decoded behind
	// it. Of a plugin with [FeatureAgain].
	RecordAgain RecordKind = 14
)

const recordHead = 8

// AppendRecord appends a record of kind k: u8 kind, u8 flags (0), u16 choice (0),
// u32 len, payload. All numbers are little-endian.
func AppendRecord[T string | []byte](b []byte, k RecordKind, payload T) []byte {
	return append(AppendHead(b, k, len(payload)), payload...)
}

// AppendHead appends what stands in front of a payload of n bytes, which the
// caller appends.
func AppendHead(b []byte, k RecordKind, n int) []byte {
	return binary.LittleEndian.AppendUint32(append(b, byte(k), 0, 0, 0), uint32(n))
}

// AppendToolStart appends a [RecordToolStart].
func AppendToolStart(b []byte, index int, id, name string) []byte {
	b = append(b, byte(RecordToolStart), 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(8+len(id)+len(name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(index))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(id)))
	return append(append(b, id...), name...)
}

// AppendToolArguments appends a [RecordToolArguments].
func AppendToolArguments[T string | []byte](b []byte, index int, piece T) []byte {
	b = append(b, byte(RecordToolArguments), 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(4+len(piece)))
	b = binary.LittleEndian.AppendUint32(b, uint32(index))
	return append(b, piece...)
}

// AppendResponse appends a [RecordResponse].
func AppendResponse(b []byte, id, model string) []byte {
	b = append(b, byte(RecordResponse), 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(4+len(id)+len(model)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(id)))
	return append(append(b, id...), model...)
}

// Usage is the payload of a [RecordUsage], in tokens.
type Usage struct {
	Prompt     uint64 `json:"prompt_tokens"`
	Completion uint64 `json:"completion_tokens"`
	Total      uint64 `json:"total_tokens"`
	Cached     uint64 `json:"-"` // of Prompt
	Reasoning  uint64 `json:"-"` // of Completion
}

// usageSize is that of the numbers of a [RecordUsage].
const usageSize = 40

// AppendUsage appends a [RecordUsage]. members is a JSON object, or nothing.
func AppendUsage(b []byte, u Usage, members []byte) []byte {
	b = AppendHead(b, RecordUsage, usageSize+len(members))
	for _, v := range [...]uint64{u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return append(b, members...)
}

// A Record is one item of a decode call's output, read in place.
type Record struct {
	Kind    RecordKind
	Payload []byte
}

// NextRecord cuts the first record off b. It returns [ErrMalformed] where b is
// neither empty nor begins with a whole record; with an empty b, ok is false.
func NextRecord(b []byte) (r Record, rest []byte, ok bool, err error) {
	if len(b) == 0 {
		return r, nil, false, nil
	}
	if len(b) < recordHead {
		return r, nil, false, ErrMalformed
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if uint64(n) > uint64(len(b)-recordHead) {
		return r, nil, false, ErrMalformed
	}
	end := recordHead + int(n)
	return Record{RecordKind(b[0]), b[recordHead:end:end]}, b[end:], true, nil
}

// ToolStart reads the payload of a [RecordToolStart].
func (r Record) ToolStart() (index uint32, id, name []byte, err error) {
	if len(r.Payload) < 4 {
		return 0, nil, nil, ErrMalformed
	}
	id, name, ok := cutBytes(r.Payload[4:])
	if !ok {
		return 0, nil, nil, ErrMalformed
	}
	return binary.LittleEndian.Uint32(r.Payload), id, name, nil
}

// ToolArguments reads the payload of a [RecordToolArguments].
func (r Record) ToolArguments() (index uint32, piece []byte, err error) {
	if len(r.Payload) < 4 {
		return 0, nil, ErrMalformed
	}
	return binary.LittleEndian.Uint32(r.Payload), r.Payload[4:], nil
}

// Response reads the payload of a [RecordResponse].
func (r Record) Response() (id, model []byte, err error) {
	id, model, ok := cutBytes(r.Payload)
	if !ok {
		return nil, nil, ErrMalformed
	}
	return id, model, nil
}

// AppendAgain appends a [RecordAgain].
func AppendAgain(b []byte, a Again) []byte {
	b = AppendHead(b, RecordAgain, 8)
	b = binary.LittleEndian.AppendUint32(b, uint32(a.AfterMS))
	flags := uint32(0)
	if a.Cancel {
		flags = 1
	}
	return binary.LittleEndian.AppendUint32(b, flags)
}

// Again reads the payload of a [RecordAgain].
func (r Record) Again() (a Again, err error) {
	if len(r.Payload) < 8 {
		return a, ErrMalformed
	}
	a.AfterMS = int(binary.LittleEndian.Uint32(r.Payload))
	if a.AfterMS > MaxAgainMS {
		return a, ErrMalformed
	}
	a.Cancel = binary.LittleEndian.Uint32(r.Payload[4:])&1 != 0
	return a, nil
}

// Usage reads the payload of a [RecordUsage]. members is empty where it has none,
// and is not checked.
func (r Record) Usage() (u Usage, members []byte, err error) {
	if len(r.Payload) < usageSize {
		return u, nil, ErrMalformed
	}
	for i, v := range [...]*uint64{&u.Prompt, &u.Completion, &u.Total, &u.Cached, &u.Reasoning} {
		*v = binary.LittleEndian.Uint64(r.Payload[8*i:])
	}
	return u, r.Payload[usageSize:], nil
}
