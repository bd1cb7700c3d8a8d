package manifest_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/parley-search/parley/abi/manifest"
)

// TestFindUnknown finds members that the contract does not have, wherever they
// are, and none in what belongs to the plugin.
func TestFindUnknown(t *testing.T) {
	const text = `{
  "abi": 1, "kind": "provider",
  "licence": "MIT",
	"grant": {"http": [1, {"any": 2}], "secrets": {}},
  "grants": {"http": ["https://x.example"], "secret\"s": ["apiKey"]},
  "settings": {"apiKey": {"required": true, "requird": true}, "orgId": null},
  "selfTests": [{"call": "encode", "inputs": {}}], "größe": 0, "Name": "x",
  "selfTest": [{"call": "encode", "input": {"of": {"the": "plugin"}}, "output": {"url": [{"x": 1}]}, "ouput": {}}],
  "metrics": [{"path": "a", "constant": {"b": 1}}, {"path": "c", "lables": ["x"]}],
  "limits": [], "features": {"x": 1}, "events": 7
}`
	var got []string
	for _, u := range manifest.FindUnknown([]byte(text)) {
		got = append(got, fmt.Sprintf("%d:%d %s", u.Line, u.Column, u.Path()))
		if len(u.Known) < 2 || slices.Contains(u.Known, u.Member) || slices.Contains(u.Known, "") {
			t.Errorf("%s: known members %q", u.Path(), u.Known)
		}
	}
	want := []string{
		"3:3 licence", "4:2 grant", `5:45 grants.secret"s`, "6:45 settings.apiKey.requird", "7:3 selfTests", "7:52 größe", "7:64 Name",
		"8:102 selfTest[0].ouput", "9:66 metrics[1].lables",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("unknown members:\n%q, want\n%q", got, want)
	}
	for _, text := range []string{"", "[", "{", `{"a`, `{"licence": }`, "null", `"x"`, "[{}]", `{"metrics": {"x": [1]}}`} {
		for _, u := range manifest.FindUnknown([]byte(text)) {
			if u.Member == "x" {
				t.Errorf("FindUnknown(%s) = %+v: nothing is known of an object where an array belongs", text, u)
			}
		}
	}
}

// FuzzFindUnknown holds positions to the text.
func FuzzFindUnknown(f *testing.F) {
	f.Add([]byte(`{"a\\": 1, "grants": {"b\"": [{"c": 2}]}, "metrics": [{"d":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, u := range manifest.FindUnknown(text) {
			if u.Line < 1 || u.Column < 1 || u.Line > 1+len(text) || u.Column > 1+len(text) {
				t.Errorf("%+v of %q", u, text)
			}
		}
	})
}
