package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A page is what the template shows.
type page struct {
	Title, Version, About string
	Tags                  []*tag
	Objects               []object
}

// A tag is a group of operations.
type tag struct {
	Name, About string
	Operations  []operation
}

type operation struct {
	ID, Method, Path string
	Summary, About   string
	Public           bool
	Actions          []string // that the key must allow
	Parameters       []field
	Body             *body
	Answers          []answer // the good ones
	Failures         []answer
	Curl             string
}

// A body is what a request brings.
type body struct {
	Required bool
	Types    []string // of content
	Type     []word
	Fields   []field
	Example  string
}

type answer struct {
	Status, About string
	Contents      []content
}

type content struct {
	Kind string
	Type []word
	Each bool // Type is that of each event
}

// An object is a named schema.
type object struct {
	Name, About, Example string
	Type                 []word // of one that has no fields
	Fields               []field
	Open                 bool // it may have further fields
}

type field struct {
	Name, In, About string
	Type            []word
	Required        bool
}

// A word is a part of a text; Link is the name of an object, Code says that it
// is written as it is.
type word struct {
	Text, Link string
	Code       bool
}

// The parts of a description that the page shows.
type (
	description struct {
		Info  struct{ Title, Version, Description string }
		Tags  []struct{ Name, Description string }
		Paths map[string]map[string]struct {
			OperationID, Summary, Description string
			Tags                              []string
			Security                          []map[string][]string
			Parameters                        []struct {
				In, Name, Description string
				Required              bool
				Schema                schema
				Example               any
			}
			RequestBody *struct {
				Required bool
				Content  map[string]media
			}
			Responses map[string]struct {
				Description string
				Content     map[string]media
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	media struct {
		Schema  schema
		Example json.RawMessage
		Events  *schema `json:"x-event-schema"`
	}
	schema struct {
		Ref                  string `json:"$ref"`
		Type                 any
		Format, Description  string
		Const                any
		Enum                 []any
		Properties           map[string]schema
		Required             []string
		Items                *schema
		AnyOf, OneOf         []schema
		AdditionalProperties json.RawMessage
		Examples             []json.RawMessage
	}
)

func read(text []byte) (*page, error) {
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	p := &page{Title: d.Info.Title, Version: d.Info.Version, About: d.Info.Description}
	byName := map[string]*tag{}
	for _, t := range d.Tags {
		byName[t.Name] = &tag{Name: t.Name, About: t.Description}
		p.Tags = append(p.Tags, byName[t.Name])
	}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			o, ok := d.Paths[path][method]
			if !ok || len(o.Tags) == 0 || byName[o.Tags[0]] == nil {
				continue
			}
			op := operation{ID: o.OperationID, Method: strings.ToUpper(method), Path: path, Summary: o.Summary, About: o.Description, Public: len(o.Security) == 0}
			for _, s := range o.Security {
				op.Actions = s["bearer"]
			}
			at := path
			for _, in := range o.Parameters {
				if in.In == "path" {
					at = strings.ReplaceAll(at, "{"+in.Name+"}", fmt.Sprint(in.Example))
				}
				op.Parameters = append(op.Parameters, field{Name: in.Name, In: in.In, About: in.Description, Required: in.Required, Type: in.Schema.words()})
			}
			if o.RequestBody != nil {
				op.Body = d.body(o.RequestBody.Required, o.RequestBody.Content)
			}
			for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
				a := answer{Status: status, About: o.Responses[status].Description}
				for _, kind := range slices.Sorted(maps.Keys(o.Responses[status].Content)) {
					m := o.Responses[status].Content[kind]
					c := content{Kind: kind, Type: m.Schema.words()}
					if m.Events != nil {
						c.Type, c.Each = m.Events.words(), true
					}
					a.Contents = append(a.Contents, c)
				}
				if status < "3" {
					op.Answers = append(op.Answers, a)
				} else {
					op.Failures = append(op.Failures, a)
				}
			}
			op.Curl = op.curl(at)
			byName[o.Tags[0]].Operations = append(byName[o.Tags[0]].Operations, op)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		s := d.Components.Schemas[name]
		o := object{Name: name, About: s.Description, Fields: s.fields(), Open: string(s.AdditionalProperties) == "true"}
		if o.Fields == nil {
			o.Type = s.words()
		}
		if len(s.Examples) > 0 {
			o.Example = indent(s.Examples[0])
		}
		p.Objects = append(p.Objects, o)
	}
	return p, nil
}

func (d *description) body(required bool, contents map[string]media) *body {
	b := &body{Required: required, Types: slices.Sorted(maps.Keys(contents))}
	m := contents["application/json"]
	b.Type, b.Example = m.Schema.words(), indent(m.Example)
	s := m.Schema
	if name := s.name(); name != "" {
		s = d.Components.Schemas[name]
	}
	b.Fields = s.fields()
	return b
}

// curl is a command that calls the operation at path.
func (o *operation) curl(path string) string {
	var b strings.Builder
	b.WriteString("curl ")
	if o.Method != "GET" {
		b.WriteString("-X " + o.Method + " ")
	}
	b.WriteString("http://127.0.0.1:7700" + path)
	if !o.Public {
		b.WriteString(" \\\n  -H \"authorization: Bearer $PARLEY_KEY\"")
	}
	if o.Body != nil && o.Body.Example != "" {
		var one bytes.Buffer
		_ = json.Compact(&one, []byte(o.Body.Example)) // it was JSON
		b.WriteString(" \\\n  -H 'content-type: application/json' \\\n  -d '" + strings.ReplaceAll(one.String(), "'", `'\''`) + "'")
	}
	return b.String()
}

func indent(text json.RawMessage) string {
	var b bytes.Buffer
	if len(text) == 0 || json.Indent(&b, text, "", "  ") != nil {
		return ""
	}
	return b.String()
}
