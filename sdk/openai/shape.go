package openai

import (
	"bytes"
	"slices"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A stream has a pattern from its first text on. The events before that look as
// they did in the stream before, and a server that gives each event its own
// time sends no two that are alike. So the last few events of which nothing
// mattered but a text at most are kept as shapes, and one that differs from a
// shape in id, time, text and padding alone is not read in full. Shapes are
// memory of the instance, not state: what comes of an event is the same.

const (
	maxShapes = 4
	maxShape  = 2 << 10
)

// A shape is an event that was read in full, and where in it others may differ.
type shape struct {
	doc       []byte
	holes     []hole        // in their order
	id, model rawjson.Value // of doc
	what      uint8         // the text is
	choices   int
}

// A hole is the inside of a string, or the digits of a number.
type hole struct {
	kind     holeKind
	from, to int
}

type holeKind uint8

const (
	holeID holeKind = iota
	holeTime
	holeText
	holePadding
)

// recall takes an event that has a shape, and reports whether it does.
func (d *Decoder) recall(s *State, data []byte, out *provider.Out) bool {
	for i := range d.shapes {
		h := &d.shapes[i]
		if p, ok := h.fit(data); ok {
			d.name(s, &p, out)
			if len(p.text) > 0 {
				emit(p.what, 0, p.text[1:len(p.text)-1], out)
			}
			d.read(s, &p, h.choices, out)
			return true
		}
	}
	return false
}

// fit returns what data holds where it has the shape.
func (h *shape) fit(data []byte) (p piece, ok bool) {
	if len(h.doc) == 0 {
		return p, false
	}
	p = piece{doc: data, id: h.id, model: h.model, what: h.what}
	from, at := 0, 0
	for i := range h.holes {
		o := &h.holes[i]
		if !bytes.HasPrefix(data[at:], h.doc[from:o.from]) {
			return p, false
		}
		at += o.from - from
		n := o.kind.length(data[at:])
		if n < 0 {
			return p, false
		}
		switch quoted := data[at-1 : at+n+1]; o.kind {
		case holeID:
			p.id = quoted
		case holeText:
			p.text = quoted
		case holePadding:
			p.free = quoted
		}
		at, from = at+n, o.to
	}
	return p, bytes.Equal(data[at:], h.doc[from:])
}

// length returns how much of data fills a hole, -1 where it begins with nothing
// that may.
func (k holeKind) length(data []byte) int {
	if k == holeTime {
		n := digits(data)
		if n == 0 || n == len(data) || data[0] == '0' {
			return -1
		}
		return n
	}
	n := bytes.IndexByte(data, '"')
	if n < 0 || n == 0 && k == holeText || bytes.IndexByte(data[:n], '\\') >= 0 {
		return -1
	}
	return n
}

// remember makes an event a shape, which takes the place of the oldest.
func (d *Decoder) remember(p *piece, choices int) {
	if p.more || p.called || len(p.doc) > maxShape {
		return
	}
	h := &d.shapes[d.oldest]
	d.oldest = (d.oldest + 1) % maxShapes
	*h = shape{doc: append(h.doc[:0], p.doc...), holes: h.holes[:0], what: p.what, choices: choices}
	h.id, h.model = h.own(p, p.id), h.own(p, p.model)
	for kind, v := range [...]rawjson.Value{holeID: p.id, holeTime: p.time, holeText: p.text, holePadding: p.free} {
		from := rawjson.Offset(p.doc, v)
		switch o := (hole{holeKind(kind), from, from + len(v)}); {
		case v.Kind() == rawjson.String && o.kind != holeTime:
			o.from++
			o.to--
			h.dig(o)
		case o.kind == holeTime && len(v) > 0 && digits(v) == len(v):
			h.dig(o)
		}
	}
}

// own returns the shape's own v, a value of p's event.
func (h *shape) own(p *piece, v rawjson.Value) rawjson.Value {
	if len(v) == 0 {
		return nil
	}
	at := rawjson.Offset(p.doc, v)
	return h.doc[at : at+len(v)]
}

// dig adds a hole where it belongs.
func (h *shape) dig(o hole) {
	i := len(h.holes)
	for i > 0 && h.holes[i-1].from > o.from {
		i--
	}
	h.holes = slices.Insert(h.holes, i, o)
}

func digits(b []byte) (n int) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}
