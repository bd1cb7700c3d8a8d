// Package guard is the Go SDK for guard plugins.
//
// A guard sees texts where they enter and leave a conversation, and lets them through,
// changes them, or ends the answer. The whole of a plugin's main.go, beside its type:
//
//	func init() { guard.Register(&codenames{}) }
//	func main() {}
//
// # Streams
//
// The text of an answer comes in pieces. Each call has all of it that was not let go
// yet: what the guard held, and the new piece behind it. What a guard does must not
// depend on how the text was cut: where it has to know what comes next, it holds its
// text from there on. [In.Each] finds patterns and does so by itself.
//
// A guard keeps nothing from call to call but what it gives to [Out.State]. What it makes
// of its options may be kept in a [Config].
package guard

import (
	"iter"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/match"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A Guard checks the texts of one call.
type Guard interface {
	// Check looks at the items of in, and tells out what is to be done. What it says
	// nothing of passes as it is. An error ends the answer.
	Check(in *In, out *Out) error
}

// A Stage is a place of a conversation at which a guard may stand.
type Stage uint8

// The stages.
const (
	Question  Stage = iota + 1 // the client's messages; whole
	Passages                   // what a search has found: title, URL and text of each hit; whole
	Arguments                  // those of a call of a client's tool; whole
	Answer                     // the model's text, as it comes
	Reasoning                  // the model's reasoning, as it comes
)

// IsStream reports whether text of s comes in pieces.
func (s Stage) IsStream() bool { return s == Answer || s == Reasoning }

// An Item is one text of a call. Its Kind is one of [abi.ItemUser] and so on.
type Item = abi.Item

// In is one call. Its slices are good until Check returns.
type In struct {
	Stage Stage
	// First and Last say which call of this list of items or of this stream it is. A guard
	// with triggers may get neither.
	First, Last bool
	Items       []Item // one in a stream
	State       []byte // what was given to [Out.State]; empty at first
	// AfterWord says whether the text of a stream goes on behind a letter, digit or _. It
	// is right only for guards without triggers, which see all of it.
	AfterWord bool

	options []byte
}

// Text is the text of a stream.
func (in *In) Text() []byte {
	if len(in.Items) == 0 {
		return nil
	}
	return in.Items[0].Text
}

// Option returns an option as text: a string's own, a number's digits, true or false;
// empty where it is not set.
func (in *In) Option(name string) string {
	v := rawjson.Value(in.options).Get(name)
	if text, ok := v.Text(); ok {
		return string(text)
	}
	return string(v)
}

// A Config is made of a guard's options, and kept until they are others.
type Config[T any] struct {
	options string
	made    bool
	value   T
	err     error
}

// Of returns what from makes of the options of in.
func (c *Config[T]) Of(in *In, from func(in *In) (T, error)) (T, error) {
	if !c.made || c.options != string(in.options) {
		c.value, c.err = from(in)
		c.options, c.made = string(in.options), true
	}
	return c.value, c.err
}

// Each goes through the matches of m in all items, the first one of each place and of
// these the longest, that check counts; nil: all. In a stream it has out hold what may
// become a match.
func (in *In) Each(out *Out, m *match.Matcher, check func(text []byte, m match.Match) bool) iter.Seq2[int, match.Match] {
	return func(yield func(int, match.Match) bool) {
		stream := in.Stage.IsStream()
		for i := range in.Items {
			text, from := in.Items[i].Text, 0
			counts := func(found match.Match) bool { return check == nil || check(text, found) }
			for {
				found, undecided, ok := m.Find(text, from, stream && in.AfterWord, !stream || in.Last, counts)
				if !ok {
					if stream {
						out.Hold(undecided)
					}
					break
				}
				if !yield(i, found) {
					return
				}
				from = found.End
			}
		}
	}
}

// Out takes what is to be done with the texts of a call.
type Out struct {
	records []byte
	state   []byte
	stream  bool
	held    int // of a stream: what is from here on is held; -1: nothing
	blocked bool
}

// Edit replaces length bytes from start on of an item. Edits come in the order of items
// and places, do not overlap, and begin and end between code points.
func (o *Out) Edit(item, start, length int, replacement string) {
	if !o.blocked {
		o.records = abi.AppendEdit(o.records, item, start, length, replacement)
	}
}

// Hold keeps the text of a stream from start on for the next call: all in front of it is
// let go. A call with [In.Last] can hold nothing.
func (o *Out) Hold(start int) { o.held = start }

// Refuse ends the answer: the client gets the message as the assistant's refusal. Of a
// stream, what is in front of start goes out before. In [Passages] the item's hit is left
// out instead.
func (o *Out) Refuse(item, start int, message string) {
	o.block(item, start, abi.BlockRefusal, message)
}

// Fail ends the answer with the error content_blocked and the message.
func (o *Out) Fail(item, start int, message string) { o.block(item, start, abi.BlockError, message) }

func (o *Out) block(item, start int, how uint8, message string) {
	if o.blocked {
		return
	}
	if o.stream {
		o.records = abi.AppendRelease(o.records, start)
	}
	o.records = abi.AppendBlock(o.records, item, how, message)
	o.blocked = true
}

// Note counts a label, by its place in the manifest's notes.
func (o *Out) Note(label int) { o.records = abi.AppendNote(o.records, label) }

// State sets what the next call has as [In.State]: of this answer and, where the client's
// next request goes on with the conversation, of that. It stays as it is where it is not
// set. At most 64 KiB.
func (o *Out) State(b []byte) { o.state = b }
