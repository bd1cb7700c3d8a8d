package openai

import (
	"encoding/binary"
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// maxCalls bounds the tool calls of one response; clients' own bound is near.
const maxCalls = 128

// A call is what is remembered of a tool call of this response. Entries begin
// the memo, in the order in which the calls came.
type call struct {
	index  int32  // the provider's own, -1 where it gave none
	id     uint32 // a hash of the provider's id, 0 where it gave none
	opened bool   // its start is out
	filled bool   // some of its arguments are out
	whole  bool   // all of them came at once; where not filled, as {}, which is held back
	at     uint16 // the index that the client sees, counted as calls are opened
}

const callSize = 12

// load reads the calls out of the memo.
func (d *Decoder) load(s *State, out *provider.Out) {
	d.calls = d.calls[:0]
	for i := range int(s.Calls) {
		b := out.Memo[i*callSize:]
		d.calls = append(d.calls, call{
			index:  int32(binary.LittleEndian.Uint32(b)),
			id:     binary.LittleEndian.Uint32(b[4:]),
			opened: b[8]&1 != 0,
			whole:  b[8]&2 != 0,
			filled: b[9] != 0,
			at:     binary.LittleEndian.Uint16(b[10:]),
		})
	}
	d.pending.load(out.Memo[int(s.Calls)*callSize : s.aboutCalls()])
}

// store writes the calls into the memo. The pattern after them is given up:
// an event that changed a call is about to make its own, if any.
func (d *Decoder) store(s *State, out *provider.Out) {
	d.memo = d.memo[:0]
	for _, c := range d.calls {
		d.memo = binary.LittleEndian.AppendUint32(d.memo, uint32(c.index))
		d.memo = binary.LittleEndian.AppendUint32(d.memo, c.id)
		d.memo = append(d.memo, bitOf(c.opened)|bitOf(c.whole)<<1, bitOf(c.filled), byte(c.at), byte(c.at>>8))
	}
	s.Calls = uint16(len(d.calls))
	d.memo = d.pending.append(d.memo)
	s.Pending = uint16(len(d.memo) - len(d.calls)*callSize)
	out.Memo, s.Pattern = d.memo, patternState{}
}

// aboutCalls is how much of the memo is about calls. What is behind is the pattern.
func (s *State) aboutCalls() int { return int(s.Calls)*callSize + int(s.Pending) }

func bitOf(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// toolCalls takes a delta's list of tool calls or pieces of them, or one without a
// list around it.
func (d *Decoder) toolCalls(s *State, v rawjson.Value, p *piece, out *provider.Out) error {
	d.load(s, out)
	var touched [maxCalls]bool // by an earlier item of this list
	left := v.Len()
	for it := v.Items(); it.Next(); left-- {
		if err := d.toolCall(s, it.Value, left, &touched, p, out); err != nil {
			return err
		}
	}
	if v.Kind() == rawjson.Object {
		if err := d.toolCall(s, v, 1, &touched, p, out); err != nil {
			return err
		}
	}
	d.store(s, out)
	return nil
}

// toolCall takes one item of the list, of which so many are left with it.
func (d *Decoder) toolCall(s *State, v rawjson.Value, left int, touched *[maxCalls]bool, p *piece, out *provider.Out) error {
	var it callPiece
	it.index = -1
	it.read(v)
	i := d.find(&it, left, touched)
	if i < 0 {
		if it.name == "" && it.id == "" && isBlank(it.arguments) && len(it.members) == 0 {
			return nil // an empty item, as some servers send at the end
		}
		if i = len(d.calls); i == maxCalls {
			return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the model made more than " + strconv.Itoa(maxCalls) + " tool calls in one answer"}
		}
		d.calls = append(d.calls, call{index: it.index})
	}
	touched[i] = true
	return d.addPiece(s, i, &it, p, out)
}

// addPiece adds to a call.
func (d *Decoder) addPiece(s *State, i int, it *callPiece, p *piece, out *provider.Out) error {
	c := &d.calls[i]
	if it.id != "" && c.id == 0 {
		c.id = hashFrom(hashSeed, []byte(it.id))
	}
	p.more = p.more || !c.opened && it.name != "" || it.id != "" || len(it.members) > 0
	if !c.opened {
		if int(d.pending.call) != i {
			d.openPending(s, out)
			if d.isNameless() {
				return errNoName
			}
			d.pending = pendingCall{call: int32(i)}
		}
		if d.pending.seed == 0 && it.id == "" {
			d.pending.seed = hashFrom(s.Response, p.doc)
		}
		d.pending.add(it)
	} else if len(it.members) > 0 {
		out.Extra(callExtra(int(c.at), it.members))
	}
	if isBlank(it.arguments) {
		return nil
	}
	if !c.filled && isEmptyObject(it.arguments) { // of some, what stands for those that follow
		c.whole, p.more = true, true
		return nil
	}
	d.openPending(s, out)
	if !c.opened { // its name is still to come
		p.more = true
		return d.pending.addArguments(it.arguments)
	}
	d.arguments(i, it.arguments, p, out)
	return nil
}

var errNoName = provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider sent a tool call without a name"}

// find returns the call that an item belongs to, -1 where it opens a new one. left is
// how many items its list has from it on.
//
// Its id says it, or else its index, unless a name comes with it behind a call that
// is whole, or with another id: some servers number all calls 0. Without either, an
// item with a name opens a call, unless its arguments can only be the rest of some;
// and one without continues the call at its place among the last.
func (d *Decoder) find(it *callPiece, left int, touched *[maxCalls]bool) int {
	h, same := uint32(0), -1
	if it.id != "" {
		h = hashFrom(hashSeed, []byte(it.id))
	}
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := &d.calls[i]
		switch {
		case it.index >= 0 && c.index != it.index:
		case h != 0 && c.id == h && (it.name == "" || !touched[i]):
			return i
		case same < 0 && it.index >= 0:
			same = i
		}
	}
	switch {
	case same >= 0 && it.name != "" && d.named(same) && (h != 0 || touched[same] || d.calls[same].whole):
		return -1
	case same >= 0 || it.index >= 0:
		return same
	case it.name == "" && h == 0:
		return max(len(d.calls)-left, -1)
	case h == 0 && !it.begins():
		return len(d.calls) - 1
	}
	return -1
}

// named reports whether the call at i has its name.
func (d *Decoder) named(i int) bool {
	return d.calls[i].opened || int(d.pending.call) == i && d.pending.name != ""
}

// isNameless reports whether the call that waits has arguments and no name.
func (d *Decoder) isNameless() bool {
	w := &d.pending
	return w.call != noCall && w.name == "" && (len(w.arguments) > 0 || d.calls[w.call].whole)
}

// openPending writes the start of the call that waits for its whole name, under an
// id that no other call of the response has. Ids that the provider left out or gave
// twice are made of what is at hand, so that the same stream always has the same
// ones.
func (d *Decoder) openPending(s *State, out *provider.Out) {
	w := &d.pending
	if w.name == "" {
		return
	}
	i := int(w.call)
	c := &d.calls[i]
	for j := range d.calls {
		if d.calls[j].opened {
			c.at++
		}
	}
	c.opened = true
	id, unique := w.id, w.id != ""
	for j := range d.calls {
		unique = unique && (j == i || d.calls[j].id != c.id)
	}
	if !unique {
		h := hashFrom(w.seed, []byte(w.name))
		id = "call_" + strconv.FormatUint(uint64(h), 36) + strconv.FormatUint(uint64(s.Response), 36) + "_" + strconv.Itoa(int(c.at))
	}
	out.ToolStart(int(c.at), id, w.name)
	if len(w.members) > 0 {
		out.Extra(callExtra(-1, w.members))
	}
	if len(w.arguments) > 0 {
		c.filled, c.whole = true, isWhole(w.arguments)
		out.ToolArguments(int(c.at), w.arguments)
	}
	*w = pendingCall{call: noCall}
}

// arguments writes a piece of a call's arguments. They are JSON text in a
// string; some servers send the JSON itself. Behind those that came whole nothing can
// follow: some servers send them twice.
func (d *Decoder) arguments(i int, v rawjson.Value, p *piece, out *provider.Out) {
	c := &d.calls[i]
	if c.filled && c.whole {
		p.more = true
		return
	}
	if v.Kind() != rawjson.String {
		p.more, c.filled, c.whole = true, true, true
		out.ToolArguments(int(c.at), v)
		return
	}
	text, _ := v.AppendText(d.scratch[:0])
	d.scratch = text
	c.whole = !c.filled && isWhole(text)
	c.filled = true
	p.add(textArguments, int(c.at), v)
	p.more = p.more || c.whole
	out.ToolArguments(int(c.at), text)
}

// functionCall takes the form that tool calls had before they were a list.
func (d *Decoder) functionCall(s *State, v rawjson.Value, p *piece, out *provider.Out) error {
	d.load(s, out)
	if len(d.calls) == 0 {
		d.calls = append(d.calls, call{})
	}
	it := callPiece{name: v.Get("name").String(), arguments: v.Get("arguments")}
	if d.calls[0].opened {
		it.name = ""
	}
	if err := d.addPiece(s, 0, &it, p, out); err != nil {
		return err
	}
	d.store(s, out)
	return nil
}

// completeCalls opens the call that still waits, and gives each that came without
// arguments an empty object, unless the answer was cut: clients parse the text. It
// reports whether there are calls.
func (d *Decoder) completeCalls(s *State, cut bool, out *provider.Out) (any bool, err error) {
	d.load(s, out)
	d.openPending(s, out)
	if d.isNameless() {
		return false, errNoName
	}
	for _, c := range d.calls {
		any = any || c.opened
		if c.opened && !c.filled && (c.whole || !cut) {
			out.ToolArguments(int(c.at), []byte("{}"))
		}
	}
	return any, nil
}

// isEmptyObject reports whether arguments are {}.
func isEmptyObject(v rawjson.Value) bool {
	if v.Kind() == rawjson.Object {
		return v.Len() == 0
	}
	return string(v) == `"{}"`
}

// isWhole reports whether a first piece of arguments is all of them.
func isWhole(text []byte) bool {
	if text[len(text)-1] != '}' {
		return false
	}
	v, ok := rawjson.Parse(text)
	return ok && v.Kind() == rawjson.Object
}

// isBlank reports whether v adds nothing: absent, null or "".
func isBlank(v rawjson.Value) bool { return v.IsNull() || len(v) == 2 && v[0] == '"' }

const hashSeed = 2166136261

// hashFrom returns FNV-1a with 32 bits, never 0.
//
//go:noinline
func hashFrom(h uint32, b []byte) uint32 {
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	return max(h, 1)
}
