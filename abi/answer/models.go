package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The places of a list of models: of a model's name, before which text may stand,
// and of what leads to the next page.
const (
	Model = "{{model}}"
	Next  = "{{next}}"
)

// Models reads names of models out of responses. It never changes.
type Models struct {
	list *Pattern
	next []any // nil: there is one page
}

// ParseModels reads a template with [Model] in an array that repeats, and perhaps
// with [Next] beside that. An error goes on from the name of the template.
func ParseModels(template []byte) (*Models, error) {
	p, err := parse(template, Model, true)
	if err != nil {
		return nil, err
	}
	if !p.many {
		return nil, fmt.Errorf("must have %q in an array of which %q says that it repeats", Model, More)
	}
	m := &Models{list: p}
	if found := m.findNext(p.whole, nil); found > 1 {
		return nil, fmt.Errorf("has %q %d times", Next, found)
	}
	return m, nil
}

func (m *Models) findNext(v any, path []any) (found int) {
	switch v := v.(type) {
	case string:
		if v == Next {
			m.next = path
			return 1
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			found += m.findNext(v[key], step(path, key))
		}
	}
	return found
}

// Read returns the names in a response's body and what leads to the next page, ""
// where this is the last one. A name that does not begin as the template says is
// left out. An error goes on from "the answer" and repeats nothing of it.
func (m *Models) Read(body []byte) (names []string, next string, err error) {
	var whole any
	if json.Unmarshal(body, &whole) != nil {
		return nil, "", errors.New("is not JSON")
	}
	list, err := m.list.Find(body)
	if err != nil {
		return nil, "", err
	}
	for _, raw := range list {
		var name string
		if !bytes.HasPrefix(raw, []byte(`"`)) || json.Unmarshal(raw, &name) != nil {
			return nil, "", errors.New("has something else than a text where the name of a model should be")
		}
		if name, ok := strings.CutPrefix(name, m.list.prefix); ok && name != "" {
			names = append(names, name)
		}
	}
	if m.next != nil {
		if raw, err := descend(body, m.next); err == nil {
			_ = json.Unmarshal(raw, &next) // null, or no text: there is no next page
		}
	}
	return names, next, nil
}
