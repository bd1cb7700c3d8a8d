package guard

import (
	"encoding/binary"
	"strconv"

	"github.com/parley-search/parley/sdk/match"
)

// A Table has values that were masked, each under a placeholder such as <EMAIL_1>. Its
// bytes are a state; see [Table.State].
type Table struct {
	values map[string]string // by placeholder, without the brackets; "": it is left as it is
	names  map[string]string // of placeholders, by kind and value
	next   map[string]int    // by kind: no lower number from 1 on is free
	state  []byte
}

// maxTable bounds the bytes of a table, below what a state may have.
const maxTable = 60 << 10

// Placeholders are what a model may make of one: in other case, with the escapes of
// Markdown or HTML. A backslash before it belongs to it only where there is another one within:
// one alone may be the text's.
var placeholders = match.MustCompile(
	`(?i)(?:<|&lt;)[A-Z]{2,12}\\{0,2}_\d{1,5}(?:\\{0,2}>|&gt;)`,
	`(?i)\\{1,2}<[A-Z]{2,12}\\{1,2}_\d{1,5}\\{0,2}>`,
	`(?i)\\{1,2}<[A-Z]{2,12}_\d{1,5}\\{1,2}>`,
)

// Load makes t the table of a state.
func (t *Table) Load(state []byte) {
	t.values, t.names, t.next, t.state = map[string]string{}, map[string]string{}, map[string]int{}, append(t.state[:0], state...)
	for b := state; len(b) > 4; {
		kind, n, size := int(b[0]), int(binary.LittleEndian.Uint16(b[1:])), int(binary.LittleEndian.Uint16(b[3:]))
		if len(b) < 5+kind+size {
			return
		}
		t.put(string(b[5:5+kind]), n, string(b[5+kind:5+kind+size]))
		b = b[5+kind+size:]
	}
}

func (t *Table) put(kind string, n int, value string) {
	name := kind + "_" + strconv.Itoa(n)
	if t.values[name] = value; value != "" {
		t.names[kind+"\x00"+value] = name
	}
}

// State returns the table as bytes. They are good until the next call of Load.
func (t *Table) State() []byte { return t.state }

// Mask returns the placeholder of a value: the same for the same value of a kind, which
// is 2 to 12 capitals. Where the table is full it is one without a number, which cannot be
// restored.
func (t *Table) Mask(kind, value string) string {
	if name, ok := t.names[kind+"\x00"+value]; ok {
		return "<" + name + ">"
	}
	n := max(t.next[kind], 1)
	for t.has(kind, n) {
		n++
	}
	t.next[kind] = n
	if !t.add(kind, n, value) {
		return "<" + kind + ">"
	}
	return "<" + kind + "_" + strconv.Itoa(n) + ">"
}

// has reports whether the placeholder of kind and n is one of the table's, or reserved.
func (t *Table) has(kind string, n int) bool {
	_, ok := t.values[kind+"_"+strconv.Itoa(n)]
	return ok
}

func (t *Table) add(kind string, n int, value string) bool {
	if size := 5 + len(kind) + len(value); len(t.state)+size > maxTable || n > 0xffff || len(kind) > 0xff {
		return false
	}
	t.state = append(t.state, byte(len(kind)))
	t.state = binary.LittleEndian.AppendUint16(t.state, uint16(n))
	t.state = binary.LittleEndian.AppendUint16(t.state, uint16(len(value)))
	t.state = append(append(t.state, kind...), value...)
	t.put(kind, n, value)
	return true
}

// Reserve keeps what stands as a placeholder in the items of in already, and is none of
// the table's, as it is: nobody is given its number.
func (t *Table) Reserve(in *In) {
	for i := range in.Items {
		text := in.Items[i].Text
		for from := 0; ; {
			m, _, ok := placeholders.Find(text, from, false, true, nil)
			if !ok {
				break
			}
			from = m.End
			kind, n := splitName(text[m.Start:m.End])
			if !t.has(kind, n) {
				t.add(kind, n, "")
			}
		}
	}
}

// Restore puts values in the place of their placeholders, and returns how many. A guard
// that restores needs the triggers < and &, and holds at most [RestoreHoldBack] bytes.
func (t *Table) Restore(in *In, out *Out) (restored int) {
	known := func(text []byte, m match.Match) bool {
		kind, n := splitName(text[m.Start:m.End])
		return t.values[kind+"_"+strconv.Itoa(n)] != ""
	}
	for i, m := range in.Each(out, placeholders, known) {
		kind, n := splitName(in.Items[i].Text[m.Start:m.End])
		out.Edit(i, m.Start, m.End-m.Start, t.values[kind+"_"+strconv.Itoa(n)])
		restored++
	}
	return restored
}

// RestoreHoldBack is how many bytes [Table.Restore] holds at most.
const RestoreHoldBack = 64

// splitName returns kind and number of a placeholder, whatever brackets it has.
func splitName(b []byte) (kind string, n int) {
	var letters []byte
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '&': // of &lt; or &gt;
			i += 3
		case c >= '0' && c <= '9':
			n = n*10 + int(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters = append(letters, c&^0x20)
		}
	}
	return string(letters), n
}
