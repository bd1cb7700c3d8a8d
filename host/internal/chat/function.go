package chat

import (
	"encoding/json"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// Bounds of what the model is told of indexes, in bytes.
const (
	maxIndexDescription  = 1 << 10
	maxFacetValue        = 100
	maxFacetValues       = 10 // values of one attribute
	maxSearchDescription = 32 << 10
)

// searchTool is the definition of the host's function over indexes. What a
// model need not say is not required of it: one that must give a filter makes
// one up. That rules strict out, which wants every argument.
func searchTool(p workspace.Prompts, indexes []Index) json.RawMessage {
	b := append([]byte(nil), `{"type":"function","function":{"name":"`+searchFunction+`","description":`...)
	b = rawjson.AppendString(b, describeSearch(p.SearchDescription, indexes))
	b = append(b, `,"parameters":{"type":"object","properties":{"indexUid":{"type":"string","enum":[`...)
	for i, x := range indexes {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(b, x.UID)
	}
	b = append(b, `],"description":`...)
	b = rawjson.AppendString(b, p.SearchIndexUIDParam)
	b = append(b, `},"q":{"type":"string","description":`...)
	b = rawjson.AppendString(b, p.SearchQParam)
	b = append(b, `},"filter":{"type":"string","description":`...)
	b = rawjson.AppendString(b, describeFilter(p.SearchFilterParam, indexes))
	b = append(b, `}},"required":[`...)
	if len(indexes) > 1 {
		b = append(b, `"indexUid",`...)
	}
	return append(b, `"q"],"additionalProperties":false}}}`...)
}

// describeSearch adds a line for each index.
func describeSearch(prompt string, indexes []Index) string {
	t := boundedText{limit: maxSearchDescription}
	t.add(prompt)
	t.add("\n\nIndexes:")
	for _, x := range indexes {
		line := "\n- " + x.UID
		if d := strings.Join(strings.Fields(x.Description), " "); d != "" {
			line += ": " + jsonbody.Cut(d, maxIndexDescription)
		}
		t.add(line)
	}
	return t.String()
}

// describeFilter adds each index's filterable attributes with some values.
func describeFilter(prompt string, indexes []Index) string {
	t := boundedText{limit: maxSearchDescription}
	t.add(prompt)
	for _, x := range indexes {
		if len(x.Filterable) == 0 {
			t.add("\n\nIndex " + x.UID + ": no attribute can be filtered on; leave the filter empty.")
			continue
		}
		t.add("\n\nAttributes of index " + x.UID + " that can be filtered on:")
		for _, f := range x.Filterable {
			t.add("\n- " + f.Attribute + facetValues(f.Values))
		}
	}
	return t.String()
}

func facetValues(values []string) string {
	var b []byte
	n := 0
	for _, v := range values {
		// A value that was cut would be filtered on as it stands, in vain.
		if len(v) > maxFacetValue || n == maxFacetValues {
			continue
		}
		if n++; n > 1 {
			b = append(b, ", "...)
		}
		b = rawjson.AppendString(b, v)
	}
	if n == 0 {
		return ""
	}
	return " (such as " + string(b) + ")"
}

// A boundedText leaves out whatever would take it over its limit: an index
// without a description can still be searched.
type boundedText struct {
	strings.Builder
	limit int
}

func (t *boundedText) add(s string) {
	// The first piece is the operator's own prompt, which has its own bound.
	if t.Len() == 0 || t.Len()+len(s) <= t.limit {
		t.WriteString(s)
	}
}
