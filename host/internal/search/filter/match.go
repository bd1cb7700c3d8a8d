package filter

import (
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/text"
)

// Matches reports whether n lets a document through, from the document itself.
//
// It asks what documents asks of bleve, and says the same of the same
// document. It is what stands between a tenant and a document that changed
// after bleve saw it.
func (n *Node) Matches(doc []byte) bool {
	at := map[string][][]byte{}
	rawjson.Walk("", doc, func(path string, v []byte) { at[path] = append(at[path], v) })
	return n.matchesValues(at)
}

// matchesValues is matches over the values at each path.
func (n *Node) matchesValues(at map[string][][]byte) bool {
	values := at[n.attr]
	switch n.kind {
	case andNode:
		return !slices.ContainsFunc(n.kids, func(k *Node) bool { return !k.matchesValues(at) })
	case orNode:
		return slices.ContainsFunc(n.kids, func(k *Node) bool { return k.matchesValues(at) })
	case notNode:
		return !n.kids[0].matchesValues(at)
	case compareNode:
		switch n.op {
		case "=":
			return anyEqual(values, n.values)
		case "!=":
			return !anyEqual(values, n.values)
		}
		return n.holdsOrder(values)
	case inNode:
		return anyEqual(values, n.values)
	case rangeNode:
		return n.holdsOrder(values)
	case existsNode:
		return len(values) > 0
	case nullNode:
		return slices.ContainsFunc(values, func(v []byte) bool { return v[0] == 'n' })
	case emptyNode:
		return slices.ContainsFunc(values, rawjson.IsEmpty)
	case startsNode:
		prefix := text.FacetKey(n.values[0])
		return prefix == "" && len(values) > 0 || anyString(values, func(key string) bool { return strings.HasPrefix(key, prefix) })
	case containsNode:
		part := text.FacetKey(n.values[0])
		return anyString(values, func(key string) bool { return strings.Contains(key, part) })
	case radiusNode, boxNode, polygonNode:
		return n.holdsPlace(at)
	}
	panic("search: filter node of an unknown kind")
}

func anyEqual(values [][]byte, wanted []string) bool {
	var keys, texts []string
	for _, w := range wanted {
		if isTextOnly(w) {
			texts = append(texts, text.FacetKey(w))
		} else {
			keys = append(keys, equalKeys(w)...)
		}
	}
	return anyText(values, func(key string) bool { return slices.Contains(keys, key) }) ||
		anyString(values, func(key string) bool { return slices.Contains(texts, key) })
}

func anyText(values [][]byte, f func(key string) bool) bool {
	return slices.ContainsFunc(values, func(v []byte) bool {
		value, ok := rawjson.ScalarText(v)
		return ok && value != "" && f(text.FacetKey(value)) // an empty text is no value: IS EMPTY finds it
	})
}

// anyString is anyText without numbers, nor texts that look like one that is there,
// too: see [Columns.TextRange].
func anyString(values [][]byte, f func(key string) bool) bool {
	return slices.ContainsFunc(values, func(v []byte) bool {
		value, ok := rawjson.ScalarText(v)
		if _, isNumber := rawjson.Number(v); !ok || isNumber || value == "" {
			return false
		}
		key := text.FacetKey(value)
		x, looks := finite(key)
		if looks && rawjson.FormatNumber(x) == key && anyNumber(values, func(y float64) bool { return x == y }) {
			return false
		}
		return f(key)
	})
}

// holdsOrder evaluates a range, or a comparison but for equality.
func (n *Node) holdsOrder(values [][]byte) bool {
	return anyString(values, n.holdsText) || n.nums != nil && anyNumber(values, n.holdsNumber)
}

func (n *Node) holdsNumber(f float64) bool {
	if n.kind == rangeNode {
		return n.nums[0] <= f && f <= n.nums[1]
	}
	return holds(f, n.op, n.nums[0])
}

func anyNumber(values [][]byte, f func(float64) bool) bool {
	return slices.ContainsFunc(values, func(v []byte) bool {
		x, ok := rawjson.Number(v)
		return ok && f(x)
	})
}

func holds(f float64, op string, than float64) bool {
	switch op {
	case ">":
		return f > than
	case ">=":
		return f >= than
	case "<":
		return f < than
	}
	return f <= than
}

// holdsPlace evaluates a condition about places. A document has one
// place: of several numbers the last counts, as in a column.
func (n *Node) holdsPlace(at map[string][][]byte) bool {
	lat, okLat := attribute.LastCoordinate(at[attribute.GeoLat])
	lng, okLng := attribute.LastCoordinate(at[attribute.GeoLng])
	if !okLat || !okLng {
		return false
	}
	switch n.kind {
	case radiusNode:
		return attribute.Distance(n.nums[0], n.nums[1], lat, lng) <= n.nums[2]
	case polygonNode:
		return inPolygon(n.nums, lat, lng)
	}
	top, right, bottom, left := n.nums[0], n.nums[1], n.nums[2], n.nums[3]
	in := left <= lng && lng <= right
	if left > right {
		in = lng >= left || lng <= right
	}
	return bottom <= lat && lat <= top && in
}
