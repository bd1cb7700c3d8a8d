package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClosed(t *testing.T) {
	for _, tt := range []struct{ cut, want string }{
		{`{"error":{"message":"no such mod`, `{"error":{"message":"no such mod"}}`},
		{`{"error":{"message":"a \"quoted\" wo`, `{"error":{"message":"a \"quoted\" wo"}}`},
		{`{"m":"back\\u12`, `{"m":"back\\u12"}`},
		{`{"m":"half\`, `{"m":"half"}`},
		{`{"m":"half\u00e`, `{"m":"half"}`},
		{`{"m":"caf` + "\xc3", `{"m":"caf"}`},
		{`{"m":"smile` + "\xf0\x9f\x98", `{"m":"smile"}`},
		{`{"m":"all","code":40`, `{"m":"all"}`},
		{`{"m":"all","co`, `{"m":"all"}`},
		{`{"m":"all","code`, `{"m":"all"}`},
		{`{"m":"all","code"`, `{"m":"all"}`},
		{`{"m":"all","code":`, `{"m":"all"}`},
		{`{"m":"all",`, `{"m":"all"}`},
		{` [{"detail":[{"msg":"one"},{"msg":"tw`, ` [{"detail":[{"msg":"one"},{"msg":"tw"}]}]`},
		{`[[],{"a":[1,2`, `[[],{"a":[1]}]`},
		{`{`, `{}`},
		// What is whole, and what never was JSON, stays.
		{`{"a":1}`, `{"a":1}`},
		{`{no json`, `{no json`},
		{`{"a":1}}`, `{"a":1}}`},
		{`"text`, `"text`},
		{"", ""},
	} {
		if got := string(Closed([]byte(tt.cut))); got != tt.want {
			t.Errorf("Closed(%q): %q, want %q", tt.cut, got, tt.want)
		}
	}
}

// TestClosedAnywhere cuts a document at each of its bytes: it can be read, and b, of
// which Closed makes its answer, is not written to.
func TestClosedAnywhere(t *testing.T) {
	const doc = `{"error":{"message":"caf\u00e9 \"é\" \\","code":-1.5e3,"list":[true,null,{"a":[]}]},"type":"x"}`
	for n := 1; n < len(doc); n++ {
		room := []byte(doc)
		got := Closed(room[:n])
		if !json.Valid(got) || !utf8.Valid(got) || !strings.HasPrefix(string(got), "{") {
			t.Errorf("%q: %q is not JSON", doc[:n], got)
		}
		if string(room) != doc {
			t.Fatalf("%q became %q", doc, room)
		}
	}
}
