package guard

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
)

// A verdict is what a call came to. Its texts are the caller's.
type verdict struct {
	edited   [][]byte // by item; nil: as it was
	drop     []int    // items of passages that are left out
	released int      // bytes of a stream's text that are done with
	out      []byte   // of a stream: what they became
	blocked  *Blocked
	edits    int
	notes    []int
}

// errNothing says of bytes that they are none of the contract's.
var errNothing = errors.New("its answer is not a state and whole records")

// read reads the output of a call, and keeps its state where it is right.
func (l *link) read(stage string, flags byte, items []abi.Item, out []byte) (*verdict, error) {
	var state, records []byte
	if len(out) > 0 {
		var err error
		if state, records, err = abi.GuardOutput(out); err != nil {
			return nil, errNothing
		}
	}
	stream := stage == abi.StageAnswer || stage == abi.StageReasoning
	size := 0
	for i := range items {
		size += len(items[i].Text)
	}
	v := &verdict{}
	if !stream {
		v.edited = make([][]byte, len(items))
	}
	room := 4*size + abi.MaxGrowth
	at, end, last := 0, 0, -1 // the item that edits are in, the end of the one before, and the item of the last block
	released := -1
	for {
		r, rest, ok, err := abi.NextVerdict(records)
		if err != nil {
			return nil, errNothing
		}
		if !ok {
			break
		}
		records = rest
		if v.blocked != nil && (r.Kind == abi.GuardEdit || r.Kind == abi.GuardRelease || r.Kind == abi.GuardBlock) {
			return nil, fmt.Errorf("it says more than notes behind a block")
		}
		switch r.Kind {
		case abi.GuardRelease:
			switch {
			case !stream:
				return nil, fmt.Errorf("it releases a part of a whole text")
			case released >= 0:
				return nil, fmt.Errorf("it releases twice")
			case int64(r.Released) > int64(size) || !border(items[0].Text, int(r.Released)):
				return nil, fmt.Errorf("it releases %d bytes of %d, and ends not between code points", r.Released, size)
			}
			released = int(r.Released)
		case abi.GuardEdit:
			if int64(r.Item) >= int64(len(items)) || int(r.Item) < at {
				return nil, fmt.Errorf("it edits item %d of %d behind item %d", r.Item, len(items), at)
			}
			if int(r.Item) > at {
				at, end = int(r.Item), 0
			}
			text := items[at].Text
			start, stop := int64(r.Start), int64(r.Start)+int64(r.Length)
			switch {
			case start < int64(end) || stop > int64(len(text)):
				return nil, fmt.Errorf("it edits bytes %d to %d of %d, behind an edit that ends at %d", start, stop, len(text), end)
			case !border(text, int(start)) || !border(text, int(stop)):
				return nil, fmt.Errorf("its edit of bytes %d to %d begins or ends within a code point", start, stop)
			case !utf8.Valid(r.Replacement):
				return nil, fmt.Errorf("its edit writes what is not UTF-8")
			}
			to := &v.out
			if !stream {
				to = &v.edited[at]
				if *to == nil {
					*to = make([]byte, 0, len(text)+len(r.Replacement))
				}
			}
			*to = append(append(*to, text[end:start]...), r.Replacement...)
			if room -= len(r.Replacement); room < 0 {
				return nil, fmt.Errorf("it makes texts of %d bytes longer than %d", size, 4*size+abi.MaxGrowth)
			}
			end = int(stop)
			v.edits++
			// The rest of a whole item follows when its last edit is known.
			if !stream && !editsMore(records, at) {
				*to = append(*to, text[end:]...)
			}
		case abi.GuardBlock:
			how := r.How
			switch {
			case int64(r.Item) >= int64(max(len(items), 1)) || how != abi.BlockRefusal && how != abi.BlockError:
				return nil, fmt.Errorf("it blocks item %d of %d, how %d", r.Item, len(items), how)
			case len(r.Message) > abi.MaxBlockMessage || !utf8.Valid(r.Message):
				return nil, fmt.Errorf("its message has %d bytes, or is not UTF-8", len(r.Message))
			}
			if stage == abi.StagePassages {
				if int(r.Item) < last {
					return nil, fmt.Errorf("it blocks item %d behind item %d", r.Item, last)
				}
				last = int(r.Item)
				v.drop = append(v.drop, last)
				break
			}
			v.blocked = &Blocked{Guard: l.manifest.Name, Stage: stage, Refusal: how == abi.BlockRefusal, Message: string(r.Message), Item: int(r.Item)}
		case abi.GuardNote:
			if int64(r.Label) >= int64(len(l.manifest.Notes)) {
				return nil, fmt.Errorf("it notes label %d of %d", r.Label, len(l.manifest.Notes))
			}
			if len(v.notes) == maxNotes {
				return nil, fmt.Errorf("it notes more than %d times in a call", maxNotes)
			}
			v.notes = append(v.notes, int(r.Label))
		}
	}
	if stream && len(items) > 0 {
		text := items[0].Text
		v.released = end
		if released > end {
			v.out = append(v.out, text[end:released]...)
			v.released = released
		}
		left := len(text) - v.released
		switch {
		case v.blocked != nil:
		case flags&abi.GuardLast != 0 && left > 0:
			return nil, fmt.Errorf("it holds %d bytes where the text has ended", left)
		case left > l.manifest.HoldBack:
			return nil, fmt.Errorf("it holds %d bytes, and its manifest says %d", left, l.manifest.HoldBack)
		}
	}
	l.state = append(l.state[:0], state...)
	return v, nil
}

// maxNotes bounds the notes of a call.
const maxNotes = 4096

// editsMore reports whether the next edit among records is of item.
func editsMore(records []byte, item int) bool {
	for {
		r, rest, ok, err := abi.NextVerdict(records)
		if err != nil || !ok {
			return false
		}
		if r.Kind == abi.GuardEdit {
			return int64(r.Item) == int64(item)
		}
		records = rest
	}
}

// border reports whether at is between code points of text.
func border(text []byte, at int) bool {
	return at == 0 || at == len(text) || at > 0 && at < len(text) && utf8.RuneStart(text[at])
}
