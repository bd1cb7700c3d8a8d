package openai

import (
	"bytes"
	"encoding/json"

	"github.com/parley-search/parley/host/internal/rawjson"
)

// joinLogprobs joins what is said of tokens: {"content": […], "refusal": […]}.
func joinLogprobs(a, b json.RawMessage) json.RawMessage {
	joined, ok := objectIn(a)
	more, isObject := objectIn(b)
	if !ok || !isObject {
		return b
	}
	for name, v := range more {
		if rawjson.IsAbsent(v) {
			continue
		}
		m := &merged{}
		if !rawjson.IsAbsent(joined[name]) {
			m.add(joined[name])
		}
		m.add(v)
		joined[name] = m.value()
	}
	return joined.append(nil)
}

// A merged value is a field of the deltas: texts and arrays are joined, of all
// else the last one counts.
type merged struct {
	text  []byte
	items []json.RawMessage
	last  json.RawMessage
	kind  byte
}

func (m *merged) add(v json.RawMessage) {
	v = bytes.TrimSpace(v)
	m.last, m.kind = v, v[0]
	if text, ok := rawjson.String(v); ok {
		m.text = append(m.text, text...)
	}
	if items, ok := rawjson.Items(v); ok {
		m.items = append(m.items, items...)
	}
}

func (m *merged) value() json.RawMessage {
	switch m.kind {
	case '"':
		return rawjson.AppendString(nil, m.text)
	case '[':
		return array(m.items)
	}
	return m.last
}
