package chat

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// A Sink receives one answer, in order, and owns its form: chunks of an event
// stream, a whole completion, a response with its events. No method keeps the
// bytes that it is given. Fail or Finish comes last, and once.
type Sink interface {
	// Begin comes first.
	Begin(Head)
	// Model changes the model's name: another workspace answers from here on.
	// Nothing of the answer's text was sent so far.
	Model(name []byte)
	// Responding comes once the provider has begun to respond, with what it calls
	// its model; empty: it does not say.
	Responding(model []byte)
	// BeginRound comes before each request to the provider.
	BeginRound()
	// Text takes a piece of text, which is not empty. extra is a checked object of
	// the delta's other members, or nothing.
	Text(kind Kind, text, extra []byte)
	// Extra takes a checked object: members of a delta without a text.
	Extra(object []byte)
	// Outer takes a checked object {"chunk": {…}, "choice": {…}}: what a provider
	// says of a chunk, and of its choice.
	Outer(object []byte)
	// ToolStart opens a call of the client's functions; the first is call 0. extra
	// is a checked object of the call's other members, or nothing.
	ToolStart(id, name string, extra []byte)
	// ToolArguments continues a call.
	ToolArguments(call int, piece []byte)
	// ToolExtra takes a checked object of members that a call has beside those of
	// its start.
	ToolExtra(call int, members []byte)
	// Searching takes a search before it begins.
	Searching(index, query string)
	// Searched takes a search that has ended, in the order of the calls.
	Searched(*Searched)
	// Report takes a report that the client asked for, as arguments of a function
	// of its own.
	Report(name string, arguments []byte)
	// EndRound takes what a round left, behind all that came of it.
	EndRound(*Carry)
	// Finish ends an answer that is whole.
	Finish(*Finish)
	// Fail ends an answer that is not.
	Fail(*apierr.Error)
	// Flush sends on what there is. An error ends the answer.
	Flush() error
	// Sent counts what was sent so far, in the sink's own units.
	Sent() int
}

// A FrameWriter takes the frames of an event stream, for sinks that write one.
type FrameWriter interface {
	// WriteFrames sends whole frames, each with its blank line, which are good within
	// the call only; last: no others follow. It is called after all that came of one
	// read from the provider, also where that is nothing. An error ends the answer.
	WriteFrames(frames []byte, last bool) error
}

// A Kind is what a text of an answer is.
type Kind int

// The kinds of text.
const (
	Content Kind = iota
	Reasoning
	Refusal
	kinds
)

// A Head is what is known of an answer before its first word.
type Head struct {
	Created int64  // in seconds
	Model   string // until the provider names its own
}

// Finish is how a whole answer ends.
type Finish struct {
	Reason    string
	Citations []Citation
	Usage     *abi.Usage // nil: not asked for, or not known
	Estimated bool       // Usage was counted by bytes
	// Counted is a checked object of what the provider counts beside Usage, as members
	// of OpenAI's usage: its price, tokens of audio, writes to a cache; or nothing.
	Counted []byte
}

// A Citation is a document that an answer rests on.
type Citation struct {
	URL, Title string
	Number     int  // of the hit, as in the text's [2]
	ByWords    bool // the text does not name it, but uses its words
	From, To   int  // of the text that names it, or of the whole text, in code points
}

// Searched is an internal search of an answer.
type Searched struct {
	Index, Query string
	Hits         []Hit // none where it failed
}

// Discard is a [Sink] that takes no notice of anything: for others to embed.
type Discard struct{}

var _ Sink = Discard{}

// Begin implements [Sink].
func (Discard) Begin(Head) {}

// Model implements [Sink].
func (Discard) Model([]byte) {}

// Responding implements [Sink].
func (Discard) Responding([]byte) {}

// BeginRound implements [Sink].
func (Discard) BeginRound() {}

// Text implements [Sink].
func (Discard) Text(Kind, []byte, []byte) {}

// Extra implements [Sink].
func (Discard) Extra([]byte) {}

// Outer implements [Sink].
func (Discard) Outer([]byte) {}

// ToolStart implements [Sink].
func (Discard) ToolStart(string, string, []byte) {}

// ToolArguments implements [Sink].
func (Discard) ToolArguments(int, []byte) {}

// ToolExtra implements [Sink].
func (Discard) ToolExtra(int, []byte) {}

// Searching implements [Sink].
func (Discard) Searching(string, string) {}

// Searched implements [Sink].
func (Discard) Searched(*Searched) {}

// Report implements [Sink].
func (Discard) Report(string, []byte) {}

// EndRound implements [Sink].
func (Discard) EndRound(*Carry) {}

// Finish implements [Sink].
func (Discard) Finish(*Finish) {}

// Fail implements [Sink].
func (Discard) Fail(*apierr.Error) {}

// Flush implements [Sink].
func (Discard) Flush() error { return nil }

// Sent implements [Sink].
func (Discard) Sent() int { return 0 }
