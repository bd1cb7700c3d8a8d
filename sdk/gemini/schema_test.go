package gemini

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-search/parley/sdk/rawjson"
)

func TestReduce(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{
			"kept", `{"type":"OBJECT","title":"T","description":"d","properties":{"a":{"type":"string","pattern":"^a","minLength":1,"enum":["x","y"]},"b":{"type":"integer","format":"int32","minimum":0,"maximum":9},"c":{"type":"array","items":{"type":"number","format":"float"},"minItems":1}},"required":["a","b"]}`,
			`{"type":"object","title":"T","description":"d","properties":{"a":{"type":"string","pattern":"^a","minLength":1,"enum":["x","y"]},"b":{"type":"integer","format":"int32","minimum":0,"maximum":9},"c":{"type":"array","items":{"type":"number","format":"float"},"minItems":1}},"required":["a","b"]}`,
		},
		{"unknown keys", `{"$schema":"x","$id":"y","type":"object","additionalProperties":false,"patternProperties":{},"properties":{"a":{"type":"string","default":"d","examples":["e"],"exclusiveMinimum":1,"strict":true,"minItems":3,"multipleOf":2}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"required that is not there", `{"properties":{"a":{"type":"string"}},"required":["a","b","a",5]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"or null", `{"type":["string","null"]}`, `{"type":"string","nullable":true}`},
		{"or null, apart", `{"description":"d","anyOf":[{"type":"string"},{"type":"null"}]}`, `{"type":"string","description":"d","nullable":true}`},
		{"null among values", `{"enum":["a",null,""]}`, `{"type":"string","nullable":true,"enum":["a"]}`},
		{"two types", `{"type":["string","integer"],"description":"d","minLength":2}`, `{"anyOf":[{"type":"string","description":"d","minLength":2},{"type":"integer","description":"d"}]}`},
		{"two types or null", `{"type":["string","integer","null"]}`, `{"anyOf":[{"type":"string","nullable":true},{"type":"integer","nullable":true}]}`},
		{"oneOf", `{"oneOf":[{"type":"string","description":"own"},{"properties":{"a":{"const":"x"}}}],"description":"d"}`, `{"anyOf":[{"type":"string","description":"own"},{"type":"object","description":"d","properties":{"a":{"type":"string","enum":["x"]}}}]}`},
		{"one branch", `{"anyOf":[{"type":"boolean"}],"title":"t"}`, `{"type":"boolean","title":"t"}`},
		{"which are required", `{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"allOf", `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"],"description":"d"}],"properties":{"c":{"type":"string"}},"required":["c"]}`, `{"type":"object","description":"d","properties":{"c":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"}},"required":["c","a","b"]}`},
		{"reference", `{"$defs":{"p/q":{"type":"object","properties":{"x":{"type":"number"}},"description":"theirs"}},"properties":{"a":{"$ref":"#/$defs/p~1q","description":"own"},"b":{"$ref":"#/$defs/none"}}}`, `{"type":"object","properties":{"a":{"type":"object","description":"own","properties":{"x":{"type":"number"}}},"b":{"type":"string"}}}`},
		{"values that are no texts", `{"type":"integer","enum":[1,2],"description":"d"}`, `{"type":"integer","description":"d (one of: [1,2])"}`},
		{"kind of a value", `{"const":true}`, `{"type":"boolean","description":"(one of: [true])"}`},
		{"format", `{"type":"string","format":"uri"}`, `{"type":"string","description":"(format: uri)"}`},
		{"time", `{"type":"string","format":"date-time"}`, `{"type":"string","format":"date-time"}`},
		{"list of anything", `{"type":"array"}`, `{"type":"array","items":{"type":"string"}}`},
		{"tuple", `{"items":[{"type":"integer"},{"type":"string"}]}`, `{"type":"array","items":{"type":"integer"}}`},
		{"anything", `{"properties":{"a":true,"b":{}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"map", `{"additionalProperties":{"type":"string"}}`, `{"type":"object"}`},
		{"only null", `{"type":"null"}`, `{"type":"string","nullable":true}`},
		{"wrong types", `{"type":7,"title":5,"description":[],"enum":"x","properties":[],"required":{},"minLength":"x","anyOf":{}}`, `{"type":"object"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, ok := rawjson.Parse([]byte(tt.schema))
			if !ok {
				t.Fatal("the test's schema is not JSON")
			}
			got := reduceSchema(v)
			same(t, "reduce", got, tt.want)
			holds(t, tt.schema, got)
		})
	}
}

func holds(t *testing.T, schema string, got []byte) {
	t.Helper()
	var r rules
	var v any
	if err := json.Unmarshal(got, &v); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	if r.schema("schema", v); len(r.broken) > 0 {
		t.Errorf("%s\nfrom %s\ncame %s", strings.Join(r.broken, "\n"), schema, got)
	}
}

// TestReduceEndless: references in circles, and ones that fan out.
func TestReduceEndless(t *testing.T) {
	for _, schema := range []string{
		`{"$ref":"#"}`,
		`{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"items":{"$ref":"#"}}}}`,
		`{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		`{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"type":"null"}]}`,
		`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`,
	} {
		v, _ := rawjson.Parse([]byte(schema))
		got := reduceSchema(v)
		if len(got) > 200<<10 {
			t.Errorf("%s grew to %d bytes", schema, len(got))
		}
	}
}

// TestReduceAny holds schemas of all kinds to the rules.
func TestReduceAny(t *testing.T) {
	for seed := range uint64(1000) {
		b, err := json.Marshal(anySchema(rand.New(rand.NewPCG(seed, 2)), 0))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := rawjson.Parse(b)
		holds(t, string(b), reduceSchema(v))
	}
}

func anySchema(r *rand.Rand, depth int) any {
	if depth > 3 {
		return true
	}
	s := map[string]any{}
	if depth == 0 {
		s["$defs"] = map[string]any{"d": anySchema(r, 1)}
	}
	values := []any{"string", "null", 1, nil, true, []any{"string", "null", "integer"}, []any{"object"}, "a", 2.5, []any{}, []any{nil}, []any{"x", ""}, map[string]any{}}
	for _, key := range []string{"type", "enum", "const", "required", "format", "title", "description", "nullable", "minLength", "maximum", "minItems", "pattern", "default", "additionalProperties", "$schema"} {
		if r.IntN(4) == 0 {
			s[key] = values[r.IntN(len(values))]
		}
	}
	for _, key := range []string{"items", "not", "additionalProperties"} {
		if r.IntN(5) == 0 {
			s[key] = anySchema(r, depth+1)
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "items"} {
		if r.IntN(7) == 0 {
			s[key] = []any{anySchema(r, depth+1), anySchema(r, depth+1), map[string]any{"type": "null"}}
		}
	}
	if r.IntN(2) == 0 {
		s["properties"] = map[string]any{"a": anySchema(r, depth+1), "x": anySchema(r, depth+1)}
	}
	if r.IntN(9) == 0 {
		s["$ref"] = "#/$defs/d"
	}
	return s
}
