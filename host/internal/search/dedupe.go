package search

import (
	"bytes"
	"encoding/json"
	"slices"
)

// dedupe returns v with the last of the members of an object that have the same
// name, at any depth: v itself where there are none, which is nearly always. A
// filter would see both values, a reader of the document only one.
func dedupe(v []byte) []byte {
	if !repeats(v) {
		return v
	}
	var x any
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	_ = d.Decode(&x) // valid, see object.go
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
		eachMember(v, func(key, value []byte) bool {
			k := unquote(key)
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
		eachElement(v, func(_ int, value []byte) bool {
			found = repeats(value)
			return !found
		})
	}
	return found
}
