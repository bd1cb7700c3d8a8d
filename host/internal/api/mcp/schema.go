package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// The schemas of what the tools take and give, but for what ask takes. They tell
// clients: what the tools get is read by readArguments.
var (
	searchIn, searchOut = schemaOf[searchInput](), schemaOf[searchOutput]()
	fetchIn, fetchOut   = schemaOf[fetchInput](), schemaOf[fetchOutput]()
	listIn, listOut     = schemaOf[struct{}](), schemaOf[listOutput]()
	facetIn, facetOut   = schemaOf[facetInput](), schemaOf[facetOutput]()
	askOut              = schemaOf[Finished]()
)

func init() {
	limit := searchIn.Properties["limit"]
	limit.Minimum, limit.Maximum, limit.Default = new(1.0), new(float64(maxResults)), encode(defaultResults)
}

// schemaOf returns the schema of T. No list or value of it is ever null: clients
// that make forms of schemas cannot say what has two types.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // of our own types
	}
	neverNull(s)
	return s
}

func neverNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	if s.Items != nil {
		neverNull(s.Items)
	}
	for _, p := range s.Properties {
		neverNull(p)
	}
}

// askIn is what ask takes of a caller who may use the workspaces. One that is the
// only one need not be named.
func askIn(workspaces []string) *jsonschema.Schema {
	s := schemaOf[askInput]()
	workspace := s.Properties["workspace"]
	for _, uid := range workspaces {
		workspace.Enum = append(workspace.Enum, uid)
	}
	if len(workspaces) > 1 {
		s.Required = append(s.Required, "workspace")
	}
	return s
}

// encode returns v, of our own types, as JSON that leaves the signs of HTML as
// they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
