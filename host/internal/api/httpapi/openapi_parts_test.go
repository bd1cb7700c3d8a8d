package httpapi_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/task"
)

// A part is a file of openapi/. What the table of routes says is not repeated
// there: method, path, actions and names of query parameters.
type part struct {
	Info       map[string]string    // of common.yaml alone, as those down to Errors
	Tags       yaml.Node            // name: what it is about, in the order shown
	Parameters map[string]string    // by name, for all operations that do not say otherwise; see parts.byPath
	Examples   map[string]any       // of parameters in paths; see parts.byPath
	Errors     map[string]string    // by status
	Operations map[string]operation // by the id in the table
	Settings   map[string]setting   // by the name in the path
	Schemas    map[string]any       // a schema, or a short form of it; see parts.schema
}

// An operation is what a part says of a route.
type operation struct {
	Tag, Summary, About string
	Query               map[string]string // in short form; see parts.short
	// Body is a schema, or schemas by content type where a key has a slash.
	Body         any
	BodyOptional bool `yaml:"bodyOptional"`
	Example      any  // of the body
	// Answers are by status: the schema of a JSON body; a sentence where there is
	// none; or an object of schema, type (of another content), events (the schema
	// of an event's data) and about.
	Answers map[string]any
	Errors  []string // statuses beside 400, 401, 403 and default
}

// A setting is what a part says of one setting of an index.
type setting struct {
	Schema, About string
	Example       any
}

type parts struct {
	part
	tb testing.TB
}

type object = map[string]any

func readParts(tb testing.TB) *parts {
	tb.Helper()
	p := &parts{part: part{Operations: map[string]operation{}, Schemas: object{}}, tb: tb}
	files, err := filepath.Glob("openapi/*.yaml")
	check(tb, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(tb, err)
		var one part
		d := yaml.NewDecoder(strings.NewReader(string(text)))
		d.KnownFields(true)
		if err := d.Decode(&one); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		if one.Info != nil {
			p.Info, p.Tags, p.Parameters, p.Examples, p.Errors = one.Info, one.Tags, one.Parameters, one.Examples, one.Errors
		}
		if one.Settings != nil {
			p.Settings = one.Settings
		}
		for id, o := range one.Operations {
			if _, twice := p.Operations[id]; twice {
				tb.Errorf("%s: operation %s is described in another file, too", file, id)
			}
			p.Operations[id] = o
		}
		for name, s := range one.Schemas {
			if _, twice := p.Schemas[name]; twice {
				tb.Errorf("%s: schema %s is in another file, too", file, name)
			}
			p.Schemas[name] = s
		}
	}
	p.addSettings()
	p.addWords()
	return p
}

// addWords adds the schemas whose words the packages list that want them.
func (p *parts) addWords() {
	types := strings.Trim(strings.ReplaceAll(fmt.Sprint(append(task.Types(), task.Absent()...)), " ", "|"), "[]")
	p.Schemas["TaskTypes"] = object{"type": "string", "pattern": "^(\\*|(" + types + ")(,(" + types + "))*)$"}
	p.Schemas["KeyAction"] = object{"type": "string", "enum": anyOf(auth.Names())}
	switches := p.Schemas["RuntimeTogglableFeaturesUpdate"].(object)["options"].(object)
	feature.Default().Each(func(name feature.Feature, _ bool) { switches[string(name)] = "boolean?" })
}

// camel is a setting's name in JSON.
func camel(name string) string {
	var b strings.Builder
	for i, word := range strings.Split(name, "-") {
		if i > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
	return b.String()
}

// addSettings makes the routes of each setting, and the schema of all.
func (p *parts) addSettings() {
	all := object{}
	for name, s := range p.Settings {
		field := camel(name)
		noun := strings.ToUpper(field[:1]) + field[1:] + "Setting"
		all[field] = s.Schema + " - " + s.About
		value := object{"schema": s.Schema, "about": s.About}
		written := operation{Tag: "Settings", Body: s.Schema, Example: s.Example, Answers: object{"202": "SummarizedTaskView"}, Errors: []string{"404"}, Summary: "Set `" + field + "`: " + s.About}
		p.Operations["get"+noun] = operation{Tag: "Settings", Summary: "Get `" + field + "`: " + s.About, Answers: object{"200": value}, Errors: []string{"404"}}
		p.Operations["update"+noun] = written
		if name == "chat" {
			p.Operations["put"+noun] = written
		}
		p.Operations["reset"+noun] = operation{Tag: "Settings", Summary: "Reset `" + field + "`", Answers: object{"202": "SummarizedTaskView"}, Errors: []string{"404"}}
	}
	p.Schemas["Settings"] = object{"about": "All settings of an index. In a request, null resets one.", "options": all}
}

// document assembles the description of routes.
func (p *parts) document(routes []httpapi.Row) object {
	paths, used := object{}, map[string]bool{}
	for _, row := range routes {
		if row.ID == "" {
			continue
		}
		o, ok := p.Operations[row.ID]
		if !ok {
			p.tb.Errorf("%s is not described: add the operation %s to a file of openapi/", row.Name, row.ID)
			continue
		}
		used[row.ID] = true
		method, path := pathOf(row)
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path].(object)[strings.ToLower(method)] = p.operation(row, path, &o)
	}
	for id := range p.Operations {
		if !used[id] {
			p.tb.Errorf("openapi/ describes the operation %s, which no route has", id)
		}
	}
	schemas := object{}
	for name, s := range p.Schemas {
		schemas[name] = p.schema(s)
	}
	var tags []any
	for i := 0; i+1 < len(p.Tags.Content); i += 2 {
		tags = append(tags, object{"name": p.Tags.Content[i].Value, "description": p.Tags.Content[i+1].Value})
	}
	return object{
		"openapi": "3.1.0",
		"info":    object{"title": p.Info["title"], "description": p.Info["description"], "version": "1", "license": object{"name": "Apache 2.0", "identifier": "Apache-2.0"}},
		"servers": []any{object{"url": "/"}},
		"tags":    tags,
		"paths":   paths,
		"components": object{
			"schemas":         schemas,
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer", "description": "The master key, an API key or a tenant token. The scopes of an operation are the actions that the key must allow."}},
		},
	}
}

var parameter = regexp.MustCompile(`:(\w+)`)

// pathOf is a row's method and path as OpenAPI writes it.
func pathOf(row httpapi.Row) (method, path string) {
	method, path, _ = strings.Cut(row.Name, " ")
	rest := "{model}"
	if strings.Contains(path, "/files/") {
		rest = "{path}"
	}
	return method, strings.Replace(parameter.ReplaceAllString(path, "{$1}"), "*", rest, 1)
}

func (p *parts) operation(row httpapi.Row, path string, o *operation) object {
	op := object{"operationId": row.ID, "tags": []any{o.Tag}, "summary": o.Summary}
	if o.Tag == "" || o.Summary == "" {
		p.tb.Errorf("operation %s has no tag or no summary", row.ID)
	}
	if o.About != "" {
		op["description"] = o.About
	}
	op["security"] = []any{}
	if !row.Public {
		actions := append([]string{}, row.Actions...)
		op["security"] = []any{object{"bearer": actions}}
	}
	var parameters []any
	for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
		in := p.parameter("path", m[1], byPath(p.Parameters, path, m[1]))
		in["required"], in["example"] = true, byPath(p.Examples, path, m[1])
		parameters = append(parameters, in)
	}
	for _, name := range row.Query {
		text := o.Query[name]
		if text == "" {
			text = p.Parameters[name]
		}
		if text == "" {
			p.tb.Errorf("operation %s: the query parameter %s is not described", row.ID, name)
			continue
		}
		parameters = append(parameters, p.parameter("query", name, text))
	}
	for name := range o.Query {
		if !slices.Contains(row.Query, name) {
			p.tb.Errorf("operation %s: the route has no query parameter %s", row.ID, name)
		}
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	if o.Body != nil {
		op["requestBody"] = p.body(o)
	}
	op["responses"] = p.responses(row, o)
	return op
}

// byPath returns what is said of a parameter below a path's first part, as
// "/chats uid", or else of its name.
func byPath[T any](said map[string]T, path, name string) T {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if v, ok := said["/"+first+" "+name]; ok {
		return v
	}
	return said[name]
}

// parameter reads a parameter in short form; "!" behind the type of one of a query
// says that it must be there.
func (p *parts) parameter(in, name, text string) object {
	kind, said, _ := strings.Cut(text, " - ")
	required := strings.HasSuffix(kind, "!")
	schema := p.short(strings.TrimSuffix(kind, "!") + " - " + said)
	about := schema["description"]
	delete(schema, "description")
	one := object{"in": in, "name": name, "schema": schema}
	if about != nil {
		one["description"] = about
	}
	if required {
		one["required"] = true
	}
	return one
}

func (p *parts) body(o *operation) object {
	content := object{}
	kinds, ok := o.Body.(object)
	if !ok || !slices.ContainsFunc(slices.Collect(maps.Keys(kinds)), func(k string) bool { return strings.Contains(k, "/") }) {
		kinds = object{"application/json": o.Body}
	}
	for kind, s := range kinds {
		content[kind] = object{"schema": p.schema(s)}
	}
	if o.Example == nil {
		p.tb.Errorf("operation %q has a body and no example of it", o.Summary)
	}
	kind := "application/json"
	if _, ok := content[kind]; !ok && len(content) == 1 {
		kind = slices.Collect(maps.Keys(content))[0]
	}
	content[kind].(object)["example"] = o.Example
	return object{"required": !o.BodyOptional, "content": content}
}

func (p *parts) responses(row httpapi.Row, o *operation) object {
	all := object{}
	for status, a := range o.Answers {
		all[status] = p.answer(a)
	}
	failure := map[string]string{"": "ResponseError", "openAI": "OpenAIError", "messages": "AnthropicError", "rpc": "MCPError"}[row.Dialect]
	statuses := append([]string{"default"}, o.Errors...)
	if row.Dialect == "" {
		statuses = append(statuses, "400")
	}
	if !row.Public {
		statuses = append(statuses, "401", "403")
	}
	for _, status := range statuses {
		if p.Errors[status] == "" {
			p.tb.Errorf("operation %s: openapi/common.yaml says nothing of the status %s", row.ID, status)
		}
		all[status] = object{"description": p.Errors[status], "content": object{"application/json": object{"schema": p.short(failure)}}}
	}
	return all
}

// answer is a response that is not an error.
func (p *parts) answer(a any) object {
	content := object{}
	switch a := a.(type) {
	case string:
		if strings.Contains(a, " ") {
			return object{"description": a}
		}
		content["application/json"] = object{"schema": p.short(a)}
	case object:
		about, _ := a["about"].(string)
		if about == "" {
			about = "OK"
		}
		kind, _ := a["type"].(string)
		if a["schema"] != nil {
			content["application/json"] = object{"schema": p.schema(a["schema"])}
		}
		if events, ok := a["events"].(string); ok {
			content["text/event-stream"] = object{"x-event-schema": object{"$ref": "#/components/schemas/" + events}}
		} else if kind != "" {
			content[kind] = object{"schema": object{"type": "string"}}
		}
		if len(content) == 0 {
			content["application/json"] = object{"schema": p.schema(a)}
		}
		return object{"description": about, "content": content}
	default:
		p.tb.Errorf("%v is not the description of an answer", a)
	}
	return object{"description": "OK", "content": content}
}

// schema is a schema of a part: a text in short form; an object whose fields
// (which must be there, unless the name ends with "?") or options (which may be
// missing, unless the name ends with "!"; others are refused, unless it says so) are in
// short form; or else itself.
func (p *parts) schema(s any) object {
	if text, ok := s.(string); ok {
		return p.short(text)
	}
	o, ok := s.(object)
	if !ok {
		p.tb.Errorf("%v is not a schema", s)
		return object{}
	}
	o = maps.Clone(o)
	if about, ok := o["about"]; ok {
		o["description"] = about
		delete(o, "about")
	}
	if e, ok := o["example"]; ok {
		o["examples"] = []any{e}
		delete(o, "example")
	}
	properties := object{}
	var required []string
	for from, mark := range map[string]string{"fields": "?", "options": "!"} {
		fields, _ := o[from].(object)
		for name, text := range fields {
			bare := strings.TrimRight(name, "?!")
			properties[bare] = p.schema(text)
			if strings.HasSuffix(name, mark) == (from == "options") {
				required = append(required, bare)
			}
		}
		if o[from] != nil {
			o["type"], o["properties"] = "object", properties
			if from == "options" && o["additionalProperties"] == nil {
				o["additionalProperties"] = false
			}
			delete(o, from)
		}
	}
	if required != nil {
		slices.Sort(required)
		o["required"] = required
	}
	return o
}

// anyOf is words as JSON has them.
func anyOf(words []string) []any {
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = w
	}
	return list
}

// short reads "TYPE" or "TYPE - DESCRIPTION". TYPE is string, integer, number,
// boolean, time, any, words with "|" between that are all there are, or a schema's
// name, and after that, in their order, "[]" for an array of it, "{}" for an object
// of it and "?" for it or null.
func (p *parts) short(text string) object {
	kind, about, _ := strings.Cut(text, " - ")
	base := strings.TrimRight(kind, "[]{}?")
	var s object
	switch base {
	case "string", "integer", "number", "boolean":
		s = object{"type": base}
	case "time":
		s = object{"type": "string", "format": "date-time"}
	case "any":
		s = object{}
	default:
		if strings.Contains(base, "|") {
			s = object{"type": "string", "enum": anyOf(strings.Split(base, "|"))}
			break
		}
		if p.Schemas[base] == nil {
			p.tb.Errorf("there is no schema %q, in %q", base, text)
		}
		s = object{"$ref": "#/components/schemas/" + base}
	}
	for rest := strings.TrimPrefix(kind, base); rest != ""; {
		switch {
		case strings.HasPrefix(rest, "[]"):
			s, rest = object{"type": "array", "items": s}, rest[2:]
		case strings.HasPrefix(rest, "{}"):
			s, rest = object{"type": "object", "additionalProperties": s}, rest[2:]
		case s["type"] != nil:
			s["type"], rest = []any{s["type"], "null"}, rest[1:]
			if words, ok := s["enum"].([]any); ok {
				s["enum"] = append(words, nil)
			}
		case s["$ref"] != nil:
			s, rest = object{"anyOf": []any{s, object{"type": "null"}}}, rest[1:]
		default:
			p.tb.Fatalf("%q is not a type", text)
		}
	}
	if about != "" {
		s["description"] = about
	}
	return s
}
