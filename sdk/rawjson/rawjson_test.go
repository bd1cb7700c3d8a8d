package rawjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	tests := []struct {
		in string
		ok bool
	}{
		{`{}`, true},
		{` [ ] `, true},
		{"\r\n{ \"a\" : [ 1 , { } , \"x\" ] , \"b\":null }\t", true},
		{`"a\"b\\"`, true},
		{`"\u00e9\ud83d"`, true},
		{`-0.5e+10`, true},
		{`0`, true},
		{strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), true},
		{strings.Repeat(`{"a":`, MaxDepth-1) + `[]` + strings.Repeat("}", MaxDepth-1), true},
		{"\"a\x01b\"", true}, // let through; see Clean
		{"\"a\xffb\"", true},

		{``, false},
		{` `, false},
		{`{`, false},
		{`{"a"`, false},
		{`{"a":`, false},
		{`{"a":1`, false},
		{`{"a":1,}`, false},
		{`{a:1}`, false},
		{`{"a" 1}`, false},
		{`{"a":1]`, false},
		{`[1,]`, false},
		{`[1 2]`, false},
		{`[1}`, false},
		{`"a`, false},
		{`"a\`, false},
		{`"\x41"`, false},
		{`"\u12"`, false},
		{`01`, false},
		{`1.`, false},
		{`.5`, false},
		{`1e`, false},
		{`-`, false},
		{`+1`, false},
		{`NaN`, false},
		{`nul`, false},
		{`nulll`, false},
		{`{} {}`, false},
		{`[DONE]`, false},
		{strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), false},
	}
	for _, tt := range tests {
		if v, ok := Parse([]byte(tt.in)); ok != tt.ok {
			t.Errorf("Parse(%.60q) = %.60q, %v, want %v", tt.in, v, ok, tt.ok)
		} else if got, ok := checked([]byte(tt.in)); ok != (v.Kind() == Object) || ok && !reflect.DeepEqual(got, EditOf(v)) {
			t.Errorf("Check(%.60q) comes to %q, %v, Parse to %.60q", tt.in, got, ok, v)
		}
	}
}

// checked returns the members that a walk with Check gives.
func checked(doc []byte) (e Edit, ok bool) {
	m := Check(doc)
	for e = (Edit{}); m.Next(); {
		e = append(e, Member{string(AppendUnescaped(nil, m.Key)), m.Value})
	}
	return e, m.OK()
}

func TestLookUps(t *testing.T) {
	doc := []byte(` { "a" : {"b":[10, "x\n", true, null, {"c":-2.5e1}]}, "é\"" :"\u00e9", "a":2, "n":"17", "f":1.5 } `)
	v, ok := Parse(doc)
	if !ok {
		t.Fatal("the document was refused")
	}
	list := v.Path("a", "b")
	var items []string
	for it := list.Items(); it.Next(); {
		items = append(items, string(it.Value))
	}
	if want := []string{"10", `"x\n"`, "true", "null", `{"c":-2.5e1}`}; !reflect.DeepEqual(items, want) {
		t.Errorf("items = %q, want %q", items, want)
	}
	if got := v.Get(`é"`).String(); got != "é" {
		t.Errorf("a key with an escape leads to %q, want é", got)
	}
	if got, ok := v.Get("n").Int(); got != 17 || !ok {
		t.Errorf(`Int of "17" = %d, %v`, got, ok)
	}
	for text, want := range map[string]int64{
		"0": 0, `"007"`: 7, "-3": -3, `"+3"`: 3, "1e3": 1000, "12.0": 12,
		"999999999999999999": 999999999999999999, "9223372036854775807": 9223372036854775807,
	} {
		if got, ok := Value(text).Int(); got != want || !ok {
			t.Errorf("Int of %s = %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", `""`, "1.5", "true", "null", `"rate_limit"`, `"1 "`, `"inf"`, "1e19", "[1]", "{}"} {
		if got, ok := Value(text).Int(); ok {
			t.Errorf("%q was taken for the whole number %d", text, got)
		}
	}
	for quoted, text := range map[string]string{`"a"`: "a", `""`: "", `"\u00e9\n"`: "é\n"} {
		if !Value(quoted).Is(text) || Value(quoted).Is(text+"x") {
			t.Errorf("Is does not know that %s is %q", quoted, text)
		}
	}
	if Value("1").Is("1") || Value(nil).Is("") {
		t.Error("what is no string was taken for one")
	}
	if got := v.Path("a", "b", "c"); len(got) != 0 || !got.IsNull() || got.Kind() != Absent {
		t.Errorf("a member of an array = %q, want none", got)
	}
	picked := []Value{Value("left over"), nil, nil}
	if v.Pick(picked, `é"`, "absent", "a"); string(picked[0]) != `"\u00e9"` || picked[1] != nil || string(picked[2]) != string(v.Get("a")) {
		t.Errorf("picked = %q, want what Get returns for each key", picked)
	}
	if v.Len() != 5 || list.Len() != 5 || list.Get("c").Len() != 0 {
		t.Errorf("lengths = %d, %d, want 5, 5", v.Len(), list.Len())
	}
	for text, want := range map[string]bool{
		"": true, "null": true, "1": true, `"a"`: true, "{}": true, "[ ]": true, "[\n\t]": true,
		"[0]": false, `{ "a":1}`: false, "[ [] ]": false,
	} {
		if got := Value(text).Empty(); got != want {
			t.Errorf("%q is empty: %t, want %t", text, got, want)
		}
	}
	if at := Offset(doc, list); !bytes.HasPrefix(doc[at:], []byte("[10")) {
		t.Errorf("Offset leads to %q", doc[at:])
	}
	kinds := map[string]byte{"null": Null, "true": True, "false": False, "-1": Number, `""`: String, "[]": Array, "{}": Object}
	for text, want := range kinds {
		if got := Value(text).Kind(); got != want {
			t.Errorf("kind of %s = %c, want %c", text, got, want)
		}
	}
}

func TestEdit(t *testing.T) {
	v, _ := Parse([]byte(`{"a": 1.0, "b" :[ 1 ],"c":"\u00e9","d":{}}`))
	e := EditOf(v)
	e.Set("b", Value("2"))
	e.Set("new\n", Quote("x\"y"))
	e.Drop("d", "absent")
	e.Rename("a", "z")
	e.Rename("absent", "y")
	e.Rename("c", "b")
	if got, want := string(e.Value()), `{"b":2,"new\n":"x\"y","z":1.0}`; got != want {
		t.Errorf("edited: %s, want %s", got, want)
	}
	if got := string(EditOf(nil).Value()); got != "{}" {
		t.Errorf("edit of nothing = %s, want {}", got)
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":"b\u0001"}`: true, "{\n\"a\":\t1}": true, `"\"\\"`: true, `"ü\n"`: true,
		"\"a\x01\"": false, "\"a\xff\"": false, "[\"a\nb\"]": false,
	} {
		if got := Value(text).Clean(); got != want {
			t.Errorf("Clean(%q) = %v, want %v", text, got, want)
		}
	}
}

// FuzzParse holds the package to encoding/json.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x\u00e9\ud83d\ude00",null]}`, `"\ud83d"`, `[[],{},"",-0.0e1]`, `{"a":1,"a":2}`, "\"\x01\"", `"😀"`, `"\/\b\n\u0000\u0022\\"`, "\"\xe2\\n\x82\"", "\"\xff\x01\\u00ff\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, ok := Parse(doc)
		if valid := json.Valid(doc); ok != valid && (valid || v.Clean()) {
			// encoding/json goes deeper than MaxDepth.
			if !valid || bytes.Count(doc, []byte("["))+bytes.Count(doc, []byte("{")) <= MaxDepth {
				t.Fatalf("Parse: %v, encoding/json: %v", ok, valid)
			}
		}
		shallow := bytes.Count(doc, []byte("["))+bytes.Count(doc, []byte("{")) <= MaxDepth
		if got, whole := checked(doc); shallow && (whole != (v.Kind() == Object) || whole && !reflect.DeepEqual(got, EditOf(v))) {
			t.Fatalf("Check comes to %q, %v, Parse to %q", got, whole, v)
		}
		if v.Kind() == String {
			if got, want := AppendQuoted(nil, v), AppendString(nil, v.String()); !bytes.Equal(got, want) {
				t.Errorf("AppendQuoted gives %s, AppendString %s", got, want)
			}
		}
		if !ok || !v.Clean() {
			return
		}
		var want any
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got := build(v); !reflect.DeepEqual(got, want) {
			t.Errorf("walked: %#v, want %#v", got, want)
		}
		var text string
		if err := json.Unmarshal(AppendString(nil, doc), &text); err != nil || text != strings.ToValidUTF8(string(doc), "\ufffd") && utf8.Valid(doc) {
			t.Errorf("AppendString gives %q, %v", text, err)
		}
	})
}

// build makes the value that encoding/json would.
func build(v Value) any {
	switch v.Kind() {
	case Null:
		return nil
	case True:
		return true
	case False:
		return false
	case String:
		return v.String()
	case Number:
		return json.Number(v)
	case Array:
		list := []any{}
		for it := v.Items(); it.Next(); {
			list = append(list, build(it.Value))
		}
		return list
	}
	object := map[string]any{}
	for m := v.Members(); m.Next(); {
		object[string(AppendUnescaped(nil, m.Key))] = build(m.Value)
	}
	return object
}

// TestEditWithoutValue sets a member to what was not there.
func TestEditWithoutValue(t *testing.T) {
	var e Edit
	e.Set("a", nil)
	e.Set("b", Value("1"))
	e.Set("c", Value(`{}`).Get("x"))
	if got, want := string(e.Value()), `{"b":1}`; got != want {
		t.Errorf("Value = %s, want %s", got, want)
	}
}

// TestTextIsNotWrittenOver: a text that is a part of its document must not become the
// memory of the next one.
func TestTextIsNotWrittenOver(t *testing.T) {
	doc := []byte(`{"a":"plain text","b":"with \"escapes\"","c":1}`)
	v := Value(doc)
	var scratch []byte
	for _, want := range []struct{ name, text string }{{"a", "plain text"}, {"b", `with "escapes"`}, {"a", "plain text"}} {
		text, ok := v.Get(want.name).AppendText(scratch[:0])
		if !ok || string(text) != want.text {
			t.Errorf("AppendText of %s = %q, %v, want %q", want.name, text, ok, want.text)
		}
		scratch = text
		if text, ok := v.Get(want.name).Text(); !ok || string(text) != want.text {
			t.Errorf("Text of %s = %q, %v, want %q", want.name, text, ok, want.text)
		}
	}
	if b, ok := v.Get("c").AppendText([]byte("x")); ok || string(b) != "x" {
		t.Errorf("AppendText of a number = %q, %v, want x, false", b, ok)
	}
}
