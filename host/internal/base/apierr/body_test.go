package apierr

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type inner struct {
	System string `json:"system"`
}

type outer struct {
	Name    string            `json:"name"`
	Limit   *int              `json:"limit"`
	Page    uint8             `json:"page"`
	Ratio   float64           `json:"ratio"`
	On      bool              `json:"on"`
	Tags    []string          `json:"tags"`
	Prompts inner             `json:"prompts"`
	Many    []inner           `json:"many"`
	Free    map[string]int    `json:"free"`
	Raw     json.RawMessage   `json:"raw"`
	Any     any               `json:"any"`
	Opt     Optional[string]  `json:"opt"`
	Deep    Optional[[]inner] `json:"deep"`
}

func TestDecodeStrict(t *testing.T) {
	body := ` {"name":"n","limit":3,"page":7,"ratio":0.5,"on":true,"tags":["a"],"prompts":{"system":"s"},"many":[{"system":"t"}],
		"free":{"x":1},"raw":{"x":{"x":1,"x":2}},"any":[1],"opt":"o","deep":[{"system":"u"}]} `
	var got outer
	if err := DecodeStrict([]byte(body), &got, nil); err != nil {
		t.Fatal(err)
	}
	want := outer{
		Name: "n", Limit: new(3), Page: 7, Ratio: 0.5, On: true, Tags: []string{"a"}, Prompts: inner{"s"}, Many: []inner{{"t"}},
		Free: map[string]int{"x": 1}, Raw: json.RawMessage(`{"x":{"x":1,"x":2}}`), Any: []any{1.0},
		Opt: Optional[string]{true, new("o")}, Deep: Optional[[]inner]{true, &[]inner{{"u"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("DecodeStrict = %+v, want %+v", got, want)
	}
}

// The fields of an embedded struct are the outer one's own.
func TestDecodeStrictEmbedded(t *testing.T) {
	type wide struct {
		Name string `json:"name"`
		inner
	}
	var got wide
	if err := DecodeStrict([]byte(`{"name":"n","system":"s"}`), &got, nil); err != nil || got != (wide{"n", inner{"s"}}) {
		t.Errorf("DecodeStrict = %+v, %v", got, err)
	}
	err := DecodeStrict([]byte(`{"system":1}`), &got, Fields{"system": InvalidAPIKeyName})
	if !Is(err, InvalidAPIKeyName) {
		t.Errorf("DecodeStrict of a wrong type: %v, want %s", err, InvalidAPIKeyName)
	}
}

// null is taken everywhere, and only an Optional tells it from absence.
func TestDecodeStrictNull(t *testing.T) {
	var got outer
	if err := DecodeStrict([]byte(`{"name":null,"limit":null,"page":null,"tags":null,"prompts":null,"opt":null}`), &got, nil); err != nil {
		t.Fatal(err)
	}
	want := outer{Opt: Optional[string]{Set: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("DecodeStrict = %+v, want %+v", got, want)
	}
}

func TestDecodeStrictErrors(t *testing.T) {
	codes := Fields{"prompts.system": InvalidAPIKeyName, "prompts": InvalidAPIKeyActions, "tags": InvalidAPIKeyUID, "many": InvalidAPIKeyLimit}
	tests := []struct {
		name, body string
		code       Code
		message    string
	}{
		{"empty", " \n\t", MissingPayload, "The body is empty: send a JSON value."},
		{"cut off", "{\"name\":\n \"ü", MalformedPayload, "line 2, column 4: unexpected end of JSON input"},
		{"wrong letter", "{\n  \"ü\": x}", MalformedPayload, "line 2, column 8: invalid character 'x'"},
		{"two values", "{} {}", MalformedPayload, "line 1, column 4"},
		{"trailing comma", `{"name":"n",}`, MalformedPayload, "column 13"},
		{"not UTF-8", "{\"name\":\n\"a\xff\"}", MalformedPayload, "not UTF-8 at line 2, column 3"},
		{"html", "<html>", MalformedPayload, "line 1, column 1: invalid character '<'"},
		{"not an object", `[]`, BadRequest, "The body must be an object, but is an array."},
		{"unknown, near", `{"nmae":1}`, BadRequest, "Unknown field `nmae`: did you mean `name`?"},
		{"unknown, case", `{"Name":"n"}`, BadRequest, "Unknown field `Name`: did you mean `name`?"},
		{"unknown, far", `{"prompts":{"zzzzzzzz":1}}`, BadRequest, "Unknown field `prompts.zzzzzzzz`: known are `system`."},
		{"unknown in an array", `{"many":[{},{"sytem":"x"}]}`, BadRequest, "Unknown field `many[1].sytem`: did you mean `system`?"},
		{"unknown in an Optional", `{"deep":[{"sytem":"x"}]}`, BadRequest, "Unknown field `deep[0].sytem`"},
		{"twice", `{"name":"a","name":"b"}`, BadRequest, "`name` comes twice"},
		{"twice, escaped", `{"name":"a","n\u0061me":"b"}`, BadRequest, "`name` comes twice"},
		{"string", `{"name":1}`, BadRequest, "`name` must be a string, but is the number 1."},
		{"integer", `{"limit":"3"}`, BadRequest, "`limit` must be an integer, but is a string."},
		{"fraction", `{"limit":1.5}`, BadRequest, "`limit` must be an integer, but is the number 1.5."},
		{"too large", `{"limit":1e99}`, BadRequest, "`limit` must be an integer, but is the number 1e99."},
		{"negative", `{"page":-1}`, BadRequest, "`page` must be an integer, 0 or more, but is the number -1."},
		{"number", `{"ratio":true}`, BadRequest, "`ratio` must be a number, but is true or false."},
		{"boolean", `{"on":"yes"}`, BadRequest, "`on` must be true or false, but is a string."},
		{"array", `{"tags":{}}`, InvalidAPIKeyUID, "`tags` must be an array, but is an object."},
		{"element", `{"tags":["a",2]}`, InvalidAPIKeyUID, "`tags[1]` must be a string, but is the number 2."},
		{"own code", `{"prompts":{"system":1}}`, InvalidAPIKeyName, "`prompts.system` must be a string"},
		{"parent's code", `{"prompts":1}`, InvalidAPIKeyActions, "`prompts` must be an object"},
		{"code through an array", `{"many":[{"system":1}]}`, InvalidAPIKeyLimit, "`many[0].system` must be a string"},
		{"map value", `{"free":{"x":"y"}}`, BadRequest, "`free.x` must be an integer"},
		{"optional", `{"opt":1}`, BadRequest, "`opt` must be a string, but is the number 1."},
		{"long name", `{"` + strings.Repeat("é", 5000) + `":1}`, BadRequest, "ééé…`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := DecodeStrict([]byte(tt.body), new(outer), codes)
			e := From(err)
			if e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.message) {
				t.Errorf("DecodeStrict(%.100s) = %v, want %s with %q", tt.body, err, tt.code, tt.message)
			}
			if e != nil && len(e.Message) > 600 {
				t.Errorf("message of %d bytes: it repeats the client's input", len(e.Message))
			}
		})
	}
}

func TestNearest(t *testing.T) {
	known := []string{"offset", "limit", "attributesToRetrieve", "q"}
	for name, want := range map[string]string{
		"limit": "limit", "limt": "limit", "lmiit": "limit", "LIMIT": "limit", "attributes_to_retrieve": "attributesToRetrieve",
		"ofset": "offset", "zebra": "", "": "", "x": "", strings.Repeat("l", 1000): "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", name, got, want)
		}
	}
}

// FuzzDecodeStrict: no input makes it panic, and what it takes encoding/json
// takes too.
func FuzzDecodeStrict(f *testing.F) {
	for _, s := range []string{`{}`, `{"name":"n","many":[{"system":null}]}`, `{"deep":[[]]}`, "{\"\xff\":1}", `{"free":{"a":1}}`, `[`, `null`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		err := DecodeStrict(body, new(outer), nil)
		if err != nil {
			if From(err).Code == Internal {
				t.Errorf("DecodeStrict(%q) = %v, want an Error of a client's", body, err)
			}
			return
		}
		if err := json.Unmarshal(body, new(outer)); err != nil {
			t.Errorf("DecodeStrict(%q) took what json does not: %v", body, err)
		}
	})
}
