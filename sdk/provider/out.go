package provider

import (
	"strconv"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/rawjson"
)

// MaxMemo bounds [Out.Memo].
const MaxMemo = 32 << 10

// Out takes the records of one call. Empty texts make no record, and nothing
// follows an error.
type Out struct {
	// Memo is a string of bytes that is carried along with the state, for what
	// has no fixed size; empty at the response's first event. A provider that
	// gives it another value must own those bytes: set it to a scratch buffer
	// of its own, not to a part of an event. At most [MaxMemo].
	Memo []byte

	records []byte
	marks   byte
}

// The marks that the SDK itself carries in front of the state.
const (
	markFinished = 1 << iota
	markFailed
	markAgain
)

// Text adds to the answer's text. Bytes that are not UTF-8 become U+FFFD.
func (o *Out) Text(b []byte) { o.text(abi.RecordText, b) }

// Reasoning adds to the text of the model's reasoning.
func (o *Out) Reasoning(b []byte) { o.text(abi.RecordReasoning, b) }

// Refusal adds to the text of a refusal.
func (o *Out) Refusal(b []byte) { o.text(abi.RecordRefusal, b) }

func (o *Out) text(k abi.RecordKind, b []byte) {
	if len(b) == 0 || o.marks != 0 {
		return
	}
	if !utf8.Valid(b) {
		b = mendUTF8(b)
	}
	o.records = abi.AppendRecord(o.records, k, b)
}

// ToolStart opens a tool call. Indexes count from 0 without a gap; ids are
// unique within the response and not empty.
func (o *Out) ToolStart(index int, id, name string) {
	if o.marks == 0 {
		o.records = abi.AppendToolStart(o.records, index, id, name)
	}
}

// ToolArguments adds to the JSON text of a tool call's arguments.
func (o *Out) ToolArguments(index int, piece []byte) {
	if len(piece) == 0 || o.marks != 0 {
		return
	}
	if !utf8.Valid(piece) {
		piece = mendUTF8(piece)
	}
	o.records = abi.AppendToolArguments(o.records, index, piece)
}

// Finish ends the content: stop, length, tool_calls or content_filter. Only the
// first one counts, and content after it is dropped.
func (o *Out) Finish(reason string) {
	if o.marks == 0 {
		o.records = abi.AppendRecord(o.records, abi.RecordFinish, reason)
		o.marks |= markFinished
	}
}

// NativeFinish tells of a reason to finish that is not known: the client gets the
// word as native_finish_reason, and the log has it. That the answer is whole is not
// said: finish with length then, or with tool_calls where there are calls.
func (o *Out) NativeFinish(word string) {
	if o.marks == 0 {
		word = word[:min(len(word), 64)]
		Log(LevelWarn, "a finish reason that is not known: "+word)
		o.Outer(nil, append(rawjson.AppendString([]byte(`{"native_finish_reason":`), word), '}'))
	}
}

// Usage says what the response cost; the last one counts. It may follow
// Finish.
func (o *Out) Usage(u Usage) {
	if o.marks&markFailed == 0 {
		o.records = abi.AppendUsage(o.records, u, nil)
	}
}

// UsageMembers is Usage with what else the provider counts, such as its price: a JSON
// object of members of OpenAI's usage. They count until there are others.
func (o *Out) UsageMembers(u Usage, members rawjson.Value) {
	if o.marks&markFailed == 0 && len(members) > 2 && members.Clean() {
		o.records = abi.AppendUsage(o.records, u, members)
	}
}

// UsageWritten is Usage with how many tokens of the prompt went into the provider's
// cache.
func (o *Out) UsageWritten(u Usage, tokens uint64) {
	if tokens == 0 {
		o.Usage(u)
		return
	}
	members := strconv.AppendUint([]byte(`{"prompt_tokens_details":{"cache_write_tokens":`), tokens, 10)
	o.UsageMembers(u, append(members, "}}"...))
}

// Again ends the response, which is one step of the round: the host waits, and asks
// Encode for another request, with [Request.Step] and what was carried. It is for a
// manifest whose features have "again".
func (o *Out) Again(a Again) {
	if o.marks == 0 {
		a.AfterMS = min(max(a.AfterMS, 0), abi.MaxAgainMS)
		o.records = abi.AppendAgain(o.records, a)
		o.marks |= markAgain
	}
}

// Error ends the response with a failure.
func (o *Out) Error(e ProviderError) {
	if o.marks&(markFailed|markAgain) == 0 {
		o.records = abi.AppendRecord(o.records, abi.RecordError, appendProviderError(nil, e))
		o.marks |= markFailed
	}
}

// Response says how the provider names the response and the model; either may
// be empty.
func (o *Out) Response(id, model string) {
	if o.marks&markFailed == 0 {
		o.records = abi.AppendResponse(o.records, id, model)
	}
}

// Carry keeps bytes that Encode is given in later rounds of this answer, and in the
// answer that goes on from the client's calls.
func (o *Out) Carry(b []byte) {
	if len(b) > 0 && o.marks&markFailed == 0 {
		o.records = abi.AppendRecord(o.records, abi.RecordCarry, b)
	}
}

// Extra merges members into the delta that the client is sent, for fields that
// no other record knows. object is a JSON object. Right behind ToolStart,
// {"tool_calls":[{…}]} merges members into that call.
func (o *Out) Extra(object rawjson.Value) {
	if len(object) > 2 && o.marks == 0 && object.Clean() {
		o.records = abi.AppendRecord(o.records, abi.RecordExtra, []byte(object))
	}
}

// Outer passes members of the chunk around the delta, and of its choice, that no
// other record knows: those of the chunk stand in each chunk from here on until
// it is told others, those of the choice in the next one. Each is a JSON object;
// none where it is empty.
func (o *Out) Outer(chunk, choice rawjson.Value) {
	if o.marks != 0 || !chunk.Clean() || !choice.Clean() {
		return
	}
	switch {
	case len(chunk) > 2 && len(choice) > 2:
		o.records = appendOuter(o.records, `{"chunk":`, chunk, `,"choice":`, choice)
	case len(chunk) > 2:
		o.records = appendOuter(o.records, `{"chunk":`, chunk, "", nil)
	case len(choice) > 2:
		o.records = appendOuter(o.records, `{"choice":`, choice, "", nil)
	}
}

// Pattern tells the host of which events it makes the records by itself, until
// the next decode call of the response; nil: of none. It is for [Patterned.Pattern].
func (o *Out) Pattern(p *abi.Pattern) {
	if p != nil && o.marks == 0 {
		o.records = abi.AppendPattern(o.records, p)
	}
}

func appendOuter(b []byte, name string, first rawjson.Value, other string, second rawjson.Value) []byte {
	b = abi.AppendHead(b, abi.RecordOuter, len(name)+len(first)+len(other)+len(second)+1)
	return append(append(append(append(append(b, name...), first...), other...), second...), '}')
}

// mendUTF8 returns b with bytes that are not UTF-8 made into U+FFFD.
func mendUTF8(b []byte) []byte {
	mended := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		mended, b = utf8.AppendRune(mended, r), b[n:]
	}
	return mended
}
