package rawjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRead holds what is read to package json: strings, compact values, and the
// members and items that a walk finds.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, ` { } `, "\t[ ]\r\n", `""`, `"a"`, `null`, `1`, `-1.5e3`, `true`,
		`{"a":1,"b":[2,{"c":"]}"}],"a":null}`, `{ "a\n" : "x\\" , "\u00e9":"\"" , "é":"\\\"" }`,
		`[1 ,2, "a,b" ,[[]],{"x":{}},null,false]`, `{"a":[{"b":"\\\\"}]}`, "{\"\xff\":\"\xff\"}",
		`{`, `[1,]`, `{"a"}`, `"a`, `"a"b"`, `"\x"`, "\"a\nb\"", `{"a":1}x`, ``, ` `, `"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		if got, want := Valid(v), json.Valid(v); got != want {
			t.Errorf("Valid(%q): %v, want %v", v, got, want)
		}
		var compact bytes.Buffer
		if json.Compact(&compact, v) == nil {
			if got := AppendCompact(nil, v); !bytes.Equal(got, compact.Bytes()) {
				t.Errorf("AppendCompact(%q) = %q, want %q", v, got, compact.Bytes())
			}
		}
		var text string
		trimmed := bytes.TrimSpace(v)
		wantText := json.Unmarshal(trimmed, &text) == nil && bytes.HasPrefix(trimmed, []byte(`"`))
		if got, ok := String(v); ok != wantText || ok && got != text {
			t.Errorf("String(%q) = %q, %v, want %q, %v", v, got, ok, text, wantText)
		}
		if !json.Valid(v) {
			return
		}
		var object map[string]json.RawMessage
		wantObject := json.Unmarshal(v, &object) == nil && object != nil
		m, ok := MembersOf(v)
		if ok != wantObject {
			t.Fatalf("MembersOf(%q): %v, want %v", v, ok, wantObject)
		}
		got := map[string][]byte{}
		for ok && m.Next() {
			key, _ := String(m.Key)
			if utf8.Valid(m.Key) && !m.Called(key) {
				t.Errorf("the member %s of %q is not called %q", m.Key, v, key)
			}
			got[key] = m.Value
		}
		for key, value := range object {
			if !bytes.Equal(got[key], value) {
				t.Errorf("member %q of %q = %q, want %q", key, v, got[key], value)
			}
		}
		if len(got) != len(object) {
			t.Errorf("%q has the members %q, want %q", v, got, object)
		}
		var array []json.RawMessage
		wantArray := json.Unmarshal(v, &array) == nil && array != nil
		if items, ok := Items(v); ok != wantArray || ok && !reflect.DeepEqual(items, array) {
			t.Errorf("Items(%q) = %q, %v, want %q, %v", v, items, ok, array, wantArray)
		}
	})
}

// FuzzEscape: what AppendString writes is JSON in one line, and the text again.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\n\r\t\x00\x1f\x7f", "é€😀", "\xff", "a\xc3", "\xf0\x9f\x98", "\xed\xa0\x80", "\u2028\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, []byte(s))
		var got string
		if err := json.Unmarshal(b, &got); err != nil || !utf8.Valid(b) || strings.ContainsAny(string(b), "\r\n") {
			t.Fatalf("%q becomes %q: %v", s, b, err)
		}
		var want strings.Builder // each wrong byte becomes one U+FFFD
		for _, r := range s {
			want.WriteRune(r)
		}
		if got != want.String() {
			t.Errorf("%q comes back as %q, want %q", s, got, want.String())
		}
	})
}

// TestValid holds Valid to package json for all that can be made of a few parts.
func TestValid(t *testing.T) {
	parts := []string{"", "[", "]", "{", "}", ",", ":", `"`, `\`, "n", "u00e9", "0", "1", "-", ".", "e", "+", "true", "null", " ", "\n", "\x01", "\xff"}
	all := []string{""}
	for range 4 {
		var longer []string
		for _, a := range all {
			for _, p := range parts {
				longer = append(longer, a+p)
			}
		}
		all = longer
	}
	for _, s := range all {
		for _, b := range []string{s, `"` + s + `"`, "[" + s + "]", `{"a":` + s + "}"} {
			if got, want := Valid([]byte(b)), json.Valid([]byte(b)); got != want {
				t.Errorf("Valid(%q): %v, want %v", b, got, want)
			}
		}
	}
	if deep := bytes.Repeat([]byte("["), 64<<20); Valid(deep) {
		t.Error("brackets that are never closed are valid")
	}
}

func BenchmarkValid(b *testing.B) {
	doc := []byte(`{"model":"m","stream":true,"messages":[{"role":"system","content":"` + strings.Repeat(`Answer from the documents.\n`, 35) + `"},{"role":"user","content":"hello"}]}`)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if !Valid(doc) {
			b.Fatal("not valid")
		}
	}
}
