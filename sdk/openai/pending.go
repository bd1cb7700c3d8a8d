package openai

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/rawjson"
)

// A callPiece is what an event says of a tool call.
type callPiece struct {
	index     int32 // -1: it does not say
	id, name  string
	arguments rawjson.Value
	members   []byte // all else, as members of an object without its braces
}

// read reads an item of tool_calls. Some servers have the function's members in the
// item itself.
func (it *callPiece) read(v rawjson.Value) {
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "index":
			if n, ok := m.Value.Int(); ok && n >= 0 && n <= 1<<30 {
				it.index = int32(n)
			}
		case "id":
			if it.id = m.Value.String(); it.id == "null" { // one SDK's default
				it.id = ""
			}
		case "type":
		case "function":
			it.readFunction(m.Value)
		case "name":
			if it.name == "" {
				it.name = m.Value.String()
			}
		case "arguments":
			if len(it.arguments) == 0 {
				it.arguments = m.Value
			}
		default:
			it.members = appendMember(it.members, &m)
		}
	}
}

// begins reports whether the arguments may be the first of a call's: they are an object.
func (it *callPiece) begins() bool {
	text, isText := it.arguments.Text()
	text = bytes.TrimLeft(text, " \t\r\n")
	return !isText || len(text) == 0 || text[0] == '{'
}

func (it *callPiece) readFunction(v rawjson.Value) {
	var members []byte
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "name":
			it.name = m.Value.String()
		case "arguments":
			it.arguments = m.Value
		default:
			members = appendMember(members, &m)
		}
	}
	if len(members) > 0 {
		if len(it.members) > 0 {
			it.members = append(it.members, ',')
		}
		it.members = append(append(append(it.members, `"function":{`...), members...), '}')
	}
}

// appendMember appends a member to those of an object, where it says something.
func appendMember(b []byte, m *rawjson.Members) []byte {
	if m.Value.IsNull() {
		return b
	}
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = append(append(append(b, '"'), m.Key...), '"', ':')
	return append(b, m.Value...)
}

// callExtra is an extra record of members of a call, of the one whose start comes
// before it where index is -1.
func callExtra(index int, members []byte) rawjson.Value {
	b := append(make([]byte, 0, len(members)+48), `{"tool_calls":[{`...)
	if index >= 0 {
		b = append(strconv.AppendInt(append(b, `"index":`...), int64(index), 10), ',')
	}
	return append(append(b, members...), "}]}"...)
}

// A pendingCall is one that is not opened yet: its name may come in pieces, and ends
// where arguments begin, or another call, or the response ends.
type pendingCall struct {
	call     int32  // the one that waits; noCall: none
	seed     uint32 // of an id, where the provider gives none
	id, name string
	members  []byte

	arguments []byte // that came before the name
}

const noCall = -1

// maxPending bounds what waits, in bytes: the state is small. Members beyond it
// are left out.
const maxPending = 8 << 10

// add takes a piece of the call.
func (w *pendingCall) add(it *callPiece) {
	if w.id == "" {
		w.id = it.id
	}
	// Some servers repeat the name, or what there was of it.
	if strings.HasPrefix(it.name, w.name) {
		w.name = it.name
	} else {
		w.name += it.name
	}
	if len(it.members) > 0 && string(it.members) != string(w.members) && len(w.members)+len(it.members) < maxPending {
		if len(w.members) > 0 {
			w.members = append(w.members, ',')
		}
		w.members = append(w.members, it.members...)
	}
}

// addArguments keeps arguments that came before the name.
func (w *pendingCall) addArguments(v rawjson.Value) error {
	if v.Kind() == rawjson.String {
		w.arguments, _ = v.AppendText(w.arguments)
	} else {
		w.arguments = append(w.arguments, v...)
	}
	if len(w.arguments) > maxPending {
		return errNoName
	}
	return nil
}

// append appends the call to a memo; nothing where none waits.
func (w *pendingCall) append(b []byte) []byte {
	if w.call == noCall {
		return b
	}
	b = strconv.AppendInt(append(b, '['), int64(w.call), 10)
	b = strconv.AppendUint(append(b, ','), uint64(w.seed), 10)
	b = rawjson.AppendString(append(b, ','), w.id)
	b = rawjson.AppendString(append(b, ','), w.name)
	b = append(append(append(b, ",{"...), w.members...), "},"...)
	return append(rawjson.AppendString(b, w.arguments), ']')
}

// load reads what append wrote.
func (w *pendingCall) load(b []byte) {
	*w = pendingCall{call: noCall}
	if len(b) == 0 {
		return
	}
	v, _ := rawjson.Parse(b)
	var items [6]rawjson.Value
	for it, i := v.Items(), 0; it.Next(); i++ {
		items[i] = it.Value
	}
	at, _ := items[0].Int()
	seed, _ := items[1].Int()
	members := items[4]
	w.call, w.seed, w.id, w.name = int32(at), uint32(seed), items[2].String(), items[3].String()
	w.members = append(w.members, members[1:len(members)-1]...)
	w.arguments, _ = items[5].AppendText(nil)
}
