package reference

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// fields are those of an object, those that must be there first.
func (s schema) fields() []field {
	var all []field
	for name, in := range s.Properties {
		all = append(all, field{Name: name, About: in.Description, Type: in.words(), Required: slices.Contains(s.Required, name)})
	}
	slices.SortFunc(all, func(a, b field) int {
		if a.Required != b.Required {
			if a.Required {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return all
}

// name is the object that s refers to.
func (s schema) name() string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

// words say what type s is.
func (s schema) words() []word {
	switch {
	case s.Ref != "":
		return []word{{Text: s.name(), Link: s.name()}}
	case s.Const != nil:
		text, _ := json.Marshal(s.Const) // it came of JSON
		return []word{{Text: string(text), Code: true}}
	case s.Enum != nil:
		var values []string
		for _, v := range s.Enum {
			text, _ := json.Marshal(v) // it came of JSON
			values = append(values, strings.Trim(string(text), `"`))
		}
		return []word{{Text: strings.Join(values, ", ")}}
	case s.AnyOf != nil, s.OneOf != nil:
		return either(append(slices.Clone(s.AnyOf), s.OneOf...))
	}
	var names []string
	switch t := s.Type.(type) {
	case string:
		names = []string{t}
	case []any:
		for _, n := range t {
			name, _ := n.(string)
			names = append(names, name)
		}
	}
	var all []word
	for i, name := range names {
		if i > 0 {
			all = append(all, word{Text: " or "})
		}
		var of schema
		switch {
		case name == "array" && s.Items != nil:
			all = append(append(all, word{Text: "array of "}), s.Items.words()...)
		case name == "object" && json.Unmarshal(s.AdditionalProperties, &of) == nil:
			all = append(append(all, word{Text: "object of "}), of.words()...)
		case s.Format == "date-time":
			all = append(all, word{Text: "time"})
		default:
			all = append(all, word{Text: name})
		}
	}
	if all == nil {
		all = []word{{Text: "any"}}
	}
	return all
}

func either(schemas []schema) []word {
	var all []word
	for i, s := range schemas {
		if i > 0 {
			all = append(all, word{Text: " or "})
		}
		all = append(all, s.words()...)
	}
	return all
}

// words divides a text at its backquotes.
func words(text string) []word {
	var all []word
	for i, part := range strings.Split(text, "`") {
		if part != "" {
			all = append(all, word{Text: part, Code: i%2 == 1})
		}
	}
	return all
}
