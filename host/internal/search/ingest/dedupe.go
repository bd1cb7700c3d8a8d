package ingest

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// Dedupe returns v with the last of the members of an object that have the same
// name, at any depth: v itself where there are none, which is nearly always. A
// filter would see both values, a reader of the document only one.
func Dedupe(v []byte) []byte {
	if !repeats(v) {
		return v
	}
	var x any
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	_ = d.Decode(&x) // valid, see package rawjson
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(x)
	return bytes.TrimSpace(out.Bytes())
}

// fewMembers is how many names are compared one by one.
const fewMembers = 32

// repeats reports whether an object in v has two members of one name.
func repeats(v []byte) (found bool) {
	switch v[0] {
	case '{':
		var few []string
		var many map[string]bool
		rawjson.EachMember(v, func(key, value []byte) bool {
			k := rawjson.Unquote(key)
			switch {
			case many != nil:
				found = many[k]
				many[k] = true
			case len(few) < fewMembers:
				found = slices.Contains(few, k)
				few = append(few, k)
			default:
				many = map[string]bool{}
				for _, f := range few {
					many[f] = true
				}
				found = many[k]
				many[k] = true
			}
			found = found || repeats(value)
			return !found
		})
	case '[':
		rawjson.EachElement(v, func(value []byte) bool {
			found = repeats(value)
			return !found
		})
	}
	return found
}
