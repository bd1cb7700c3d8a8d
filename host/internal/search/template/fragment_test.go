package template

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFragmentFits has a fragment fit where each value that it shows is there.
func TestFragmentFits(t *testing.T) {
	var doc map[string]any
	if err := DecodeNumbers([]byte(`{"title":"The \"Sea\" <b>","year":1961,"none":null,"empty":"","of":{"it":["x","y"]},"big":"`+strings.Repeat("x", maxFragmentBytes/2)+`"}`), &doc); err != nil {
		t.Fatal(err)
	}
	with := map[string]any{"doc": Plain(doc), "q": "who?"}
	for _, tt := range []struct{ value, want string }{ // want "": it does not fit
		{`"of {{ doc.title }}"`, `"of The \"Sea\" <b>"`},
		{`{"b":["{{doc.year}}",1.50,null,true],"a":"x"}`, `{"a":"x","b":["1961",1.50,null,true]}`},
		{`"{{doc.of.it[1]}}{{doc.of.it.first}}"`, `"yx"`},
		{`"{{doc.empty}}"`, `""`},
		{`"{{q}}"`, `"who?"`},
		{`"{{doc.absent}}"`, ""},
		{`"{{doc.none}}"`, ""},
		{`"{{doc.absent.within}}"`, ""},
		{`"{{media.image}}"`, ""},
		{`["{{doc.title}}","{{absent}}"]`, ""},
		{`"{{ doc.absent | upcase }}"`, ""},
		{`"{{- doc.title | upcase -}}"`, `"THE \"SEA\" <B>"`},
		{`"{{ doc.title | replace: '|', \"}\" | upcase }}"`, `"THE \"SEA\" <B>"`},
		{`"{{ 'a | b' | append: doc.title }}"`, `"a | bThe \"Sea\" <b>"`},
		{`"{{ doc.absent | default: 'nothing' }}"`, `"nothing"`},
		{`"{% if doc.absent %}{{ doc.absent }}{% else %}none{% endif %}"`, `"none"`},
		{`"{% for x in doc.of.it %}{{ x }} {% endfor %}"`, `"x y "`},
		{`"{% raw %}{{ x }}{% endraw %}"`, `"{{ x }}"`},
		{`"{{doc.big}}"`, `"` + strings.Repeat("x", maxFragmentBytes/2) + `"`},
		{`["{{doc.big}}","{{doc.big}}","{{doc.title}}"]`, ""},
	} {
		f, err := ParseFragment("f", json.RawMessage(tt.value))
		if err != nil {
			t.Errorf("%s: %v", tt.value, err)
			continue
		}
		if got, ok := f.Render(NewBudget(t.Context()), with); ok != (tt.want != "") || got != tt.want {
			t.Errorf("%s is %.100s, fits: %v; want %.100s", tt.value, got, ok, tt.want)
		}
	}
	for value, says := range map[string]string{
		`"{{ doc.title "`:                      "has no end",
		`{"a":["{{ doc.title | nofilter }}"]}`: "`nofilter`",
		`"{{ doc.title | given }}"`:            "`given`",
		`"{% include 'x' %}"`:                  "`include`",
	} {
		if _, err := ParseFragment("f", json.RawMessage(value)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want it to say %s", value, err, says)
		}
	}
}
