package search

import (
	"encoding/json"
	"slices"
	"strings"
)

// A selection says which dotted paths of a document to show. nil shows all.
type selection struct {
	paths []string
}

// newSelection shows paths and what is below them; nil, or "*" among them,
// shows all.
func newSelection(paths []string) *selection {
	if paths == nil || slices.Contains(paths, "*") {
		return nil
	}
	return &selection{paths}
}

// whole reports whether all of path is shown.
func (s *selection) whole(path string) bool {
	return slices.ContainsFunc(s.paths, func(p string) bool { return covers(p, path) })
}

// part reports whether something below path is shown.
func (s *selection) part(path string) bool {
	return slices.ContainsFunc(s.paths, func(p string) bool { return covers(path, p) })
}

// covers reports whether path is attr or below it.
func covers(attr, path string) bool {
	return path == attr || len(path) > len(attr) && path[len(attr)] == '.' && strings.HasPrefix(path, attr)
}

// project returns doc with only what all of the selections show. Without any it
// returns doc itself.
func project(doc []byte, sels ...*selection) json.RawMessage {
	for _, s := range sels {
		if s == nil {
			continue
		}
		out, ok := s.project(nil, "", doc)
		if !ok {
			out = []byte("{}")
		}
		doc = out
	}
	return doc
}

// project appends what is shown of v to dst; ok is false where that is nothing.
func (s *selection) project(dst []byte, path string, v []byte) (out []byte, ok bool) {
	if path != "" && s.whole(path) {
		return append(dst, v...), true
	}
	if path != "" && !s.part(path) {
		return dst, false
	}
	start := len(dst)
	switch v[0] {
	case '{':
		dst = append(dst, '{')
		eachMember(v, func(key, value []byte) bool {
			p := unquote(key)
			if path != "" {
				p = path + "." + p
			}
			before := len(dst)
			if before > start+1 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, key...), ':')
			var shown bool
			if dst, shown = s.project(dst, p, value); !shown {
				dst = dst[:before]
			} else {
				ok = true
			}
			return true
		})
		dst = append(dst, '}')
	case '[':
		dst = append(dst, '[')
		eachElement(v, func(_ int, value []byte) bool {
			before := len(dst)
			if before > start+1 {
				dst = append(dst, ',')
			}
			var shown bool
			if dst, shown = s.project(dst, path, value); !shown {
				dst = dst[:before]
			} else {
				ok = true
			}
			return true
		})
		dst = append(dst, ']')
	default:
		return dst, false
	}
	if !ok {
		return dst[:start], false
	}
	return dst, true
}
