// Package attribute knows how attributes of documents are named: by dotted paths
// ("author.name"), which [Covers] compares, by patterns ("price_*"), which
// [MatchPattern] applies, and by selections of paths, which [Project] cuts a
// document down to. It also has the two coordinates of the one attribute that
// means something by itself, [Geo].
//
// Elements of arrays have the path of their array. Nothing here looks at
// settings.
package attribute

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// A Selection says which dotted paths of a document to show. nil shows all.
type Selection struct {
	Paths []string
}

// NewSelection shows paths and what is below them; nil, or "*" among them,
// shows all.
func NewSelection(paths []string) *Selection {
	if paths == nil || slices.Contains(paths, "*") {
		return nil
	}
	return &Selection{paths}
}

// ShowsAll reports whether all of path is shown.
func (s *Selection) ShowsAll(path string) bool {
	return slices.ContainsFunc(s.Paths, func(p string) bool { return Covers(p, path) })
}

// showsPart reports whether something below path is shown.
func (s *Selection) showsPart(path string) bool {
	return slices.ContainsFunc(s.Paths, func(p string) bool { return Covers(path, p) })
}

// Covers reports whether path is attr or below it.
func Covers(attr, path string) bool {
	return path == attr || len(path) > len(attr) && path[len(attr)] == '.' && strings.HasPrefix(path, attr)
}

// Project returns doc with only what all of the selections show. Without any it
// returns doc itself.
func Project(doc []byte, sels ...*Selection) json.RawMessage {
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
func (s *Selection) project(dst []byte, path string, v []byte) (out []byte, ok bool) {
	if path != "" && s.ShowsAll(path) {
		return append(dst, v...), true
	}
	if path != "" && !s.showsPart(path) {
		return dst, false
	}
	start := len(dst)
	switch v[0] {
	case '{':
		dst = append(dst, '{')
		rawjson.EachMember(v, func(key, value []byte) bool {
			p := rawjson.Unquote(key)
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
		rawjson.EachElement(v, func(value []byte) bool {
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

// CoveredBy reports whether path is one of attrs or below one.
func CoveredBy(attrs []string, path string) bool {
	return slices.ContainsFunc(attrs, func(a string) bool { return Covers(a, path) })
}
