package highlight

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// places returns where words were found in a document: for each path the byte
// where each begins, its length in bytes, and the places in arrays on the way. Of an
// array the last element that has any counts, as in Meilisearch.
func (f *Formatter) places(doc []byte) json.RawMessage {
	byPath := map[string][]byte{}
	var order []string
	f.find(doc, "", nil, func(path string, marks []mark, indices []int) {
		b, known := byPath[path]
		if !known {
			order = append(order, path)
		}
		b = b[:0]
		if !f.spend(len(marks)*(len(place)+8*len(indices)), part) {
			return
		}
		for i, m := range marks {
			b = append(b, "[,"[min(i, 1)])
			b = appendPlace(b, m, indices)
		}
		byPath[path] = b
	})
	out := []byte{'{'}
	for i, path := range order {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(AppendString(out, path), ':'), byPath[path]...), ']')
	}
	return append(out, '}')
}

// place is what a place looks like, about.
const place = `{"start":1000,"length":10},`

func appendPlace(b []byte, m mark, indices []int) []byte {
	b = fmt.Appendf(b, `{"start":%d,"length":%d`, m.start, m.end-m.start)
	if len(indices) > 0 {
		b = append(b, `,"indices":[`...)
		for i, n := range indices {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(n), 10)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// find calls each for the marks in each text of v that has some.
func (f *Formatter) find(v []byte, path string, indices []int, each func(path string, marks []mark, indices []int)) {
	switch v[0] {
	case '{':
		rawjson.EachMember(v, func(key, value []byte) bool {
			f.find(value, below(path, key), indices, each)
			return f.err == nil
		})
	case '[':
		n := 0
		rawjson.EachElement(v, func(value []byte) bool {
			f.find(value, path, append(slices.Clip(indices), n), each)
			n++
			return f.err == nil
		})
	case 't', 'f', 'n':
	default:
		text, _ := rawjson.ScalarText(v)
		if marks := f.marker.marks(path, text, f.marker.analyzer.Split(text)); len(marks) > 0 {
			each(path, marks, indices)
		}
	}
}
