package manifest_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
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

// TestAmbiguousMembers refuses what a reader of a manifest and package json take for
// different things.
func TestAmbiguousMembers(t *testing.T) {
	const text = `{"abi": 2, "kind": "provider", "name": "a", "version": "1.0.0", "source": "s", "grants": {"http": ["https://a.example"]}, %s}`
	for member, want := range map[string]string{
		`"Name": "b"`: `"Name" at 1:123 must be written name`,
		`"Grants": {"http": ["https://b.example"]}`:  "must be written grants",
		`"grantſ": {"http": ["https://b.example"]}`:  "must be written grants",
		`"grants": {"http": []}`:                     `"grants" comes twice, at 1:123`,
		`"settings": {"apiKey": {"Required": true}}`: "must be written required",
		`"settings": {"apiKey": {}, "apiKey": {}}`:   `"settings.apiKey" comes twice`,
		`"limits": {"memoryMiB": 1, "memoryMiB": 2}`: "comes twice",
		`"auth": [{"name": "a", "NAME": "b"}]`:       "must be written name",
	} {
		if _, err := manifest.Parse(fmt.Appendf(nil, text, member)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse with %s = %v, want an error with %q", member, err, want)
		}
	}
	for _, member := range []string{`"licence": {"a": 1, "A": 2}`, `"selfTest": [{"call": "encode", "input": {"chat": {"a": 1, "a": 2}}, "output": {}}]`} {
		if _, err := manifest.Parse(fmt.Appendf(nil, text, member)); err != nil && (strings.Contains(err.Error(), "twice") || strings.Contains(err.Error(), "written")) {
			t.Errorf("Parse with %s = %v: that is the plugin's own", member, err)
		}
	}
}
