package template_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/template"
)

// newData returns the variables that the tests' templates show.
func newData() map[string]any {
	doc := map[string]any{
		"title": "Solaris & <b>Co</b>", "year": int64(1961), "price": 9.5, "ok": true, "no": false, "none": nil, "blank": "",
		"tags": []any{"b", "a", "C", "a"}, "text": "the quick brown fox\njumps over  the lazy dog", "o": map[string]any{"b": "x", "a": int64(1)},
		"list": []any{map[string]any{"n": "x", "v": int64(2)}, map[string]any{"n": "y", "v": int64(1)}},
		"day":  "2024-03-05", "when": "2024-03-05T14:07:09Z", "größe": "weit",
	}
	return map[string]any{"doc": doc, "fields": []any{
		map[string]any{"name": "title", "value": doc["title"], "is_searchable": true},
		map[string]any{"name": "none", "value": nil, "is_searchable": true},
		map[string]any{"name": "year", "value": doc["year"], "is_searchable": false},
	}}
}

func render(t *testing.T, text string, data map[string]any) (string, error) {
	t.Helper()
	parsed, err := template.Parse(text)
	if err != nil {
		return "", err
	}
	return parsed.Render(template.NewBudget(t.Context()), data, template.Output{MaxBytes: 10_000})
}

// TestTemplateLanguage holds what templates show. All but what a comment marks
// is what github.com/osteele/liquid 1.6 shows, which earlier versions used, and
// what Meilisearch's documentation gives as examples.
func TestTemplateLanguage(t *testing.T) {
	for text, want := range map[string]string{
		"":          "",
		"text { %}": "text { %}",
		"{% for field in fields %}{% if field.is_searchable and field.value != nil %}{{ field.name }}: {{ field.value }}\n{% endif %}{% endfor %}": "title: Solaris & <b>Co</b>\n",
		"A movie titled '{{doc.title}}' whose description starts with {{doc.text|truncatewords: 4}}":                                               "A movie titled 'Solaris & <b>Co</b>' whose description starts with the quick brown fox...",
		"{{ doc.year }} {{doc.price}} {{doc.ok}} {{doc.none}}|{{doc['title'].size}} {{ doc.none.of.it }}|":                                         "1961 9.5 true |19 |",
		"{{ doc.tags }} {{doc.tags.first}}{{doc.tags.last}}{{doc.tags[1]}}{{doc.tags[-2]}}{{doc.tags[9]}}{{doc.tags.size}}":                        "baCa baaC4",
		"{{ 1.0 }} {{ 100000000000000000000.0 }} {{ 0.00001 }} {{ -3 }}":                                                                           "1 1e+20 1e-05 -3",
		"{{ doc.o }}{{ doc.größe }}":                                                            `{"a":1,"b":"x"}weit`, // JSON
		"a {%- if true -%} b {%- endif -%} c {{- ' x ' -}} d":                                   "abc x d",
		"{% raw %}{{ x }}{% if %}{% endfor %}{%- endraw -%}  z":                                 "{{ x }}{% if %}{% endfor %}z",
		"{% comment %}{% if %}{{ }{% endfor %} don't {% endcomment %}z":                         "z",
		"{% assign x = doc.tags | join: '+' %}{{x}}{% capture y %}<{{x}}>{% endcapture %}{{y}}": "b+a+C+a<b+a+C+a>", // capture

		"{% if doc.tags contains 'a' %}1{% endif %}{% if doc.title contains 'Sol' %}2{%endif%}{% if doc.o contains 'a' %}3{%endif%}{% unless doc.ok %}4{% else %}5{% endunless %}": "1235",
		"{% if doc.year > 1960 and doc.year < 1970 or doc.no %}sixties{% elsif doc.ok %}ok{% endif %}{% if (doc.tags | size) >= 4 %}4{%endif%}":                                    "sixties4",
		"{{ doc.year == 1961.0 }}{{ doc.none == nil }}{{ doc.title != nil }}{{ 'a' < 'b' }}{{ doc.tags == doc.tags }}{{ doc.list[0] == doc.list[1] }}":                             "truetruetruetruetruefalse",
		"{{ doc.blank == empty }}{{ doc.blank == blank }}{{ doc.none == blank }}{{ doc.tags == empty }}":                                                                           "truetruetruefalse", // the words empty and blank
		"{% case doc.year %}{% when 1960, 1961 %}A{% else %}B{% endcase %}{% case 'x' %}{% when 'y' %}1{% when 'z' or 'x' %}2{% endcase %}":                                        "A2",
		"{% for t in doc.tags %}{{forloop.index}}{{forloop.rindex0}}{{forloop.first}}{{forloop.length}}{{t}}{% if t == 'C' %}{% break %}{%endif%}, {% endfor %}":                   "13true4b, 22false4a, 31false4C",
		"{% for t in doc.tags reversed limit:2 offset:1 %}{% if t == 'a' %}{% continue %}{% endif %}{{t}}{% endfor %}|{% for t in doc.none %}x{% else %}none{% endfor %}":          "C|none",
		"{% for p in doc.o %}{{p[0]}}={{p[1]}} {% endfor %}{% for i in (1..3) %}{{ i }}{% endfor %}{% for i in (3..1) %}x{% endfor %}{{ (1..3) | reverse | join }}":                "a=1 b=x 1233 2 1", // ranges
		"{% for a in doc.tags %}{% for b in doc.tags limit: 1 %}{% for c in doc.tags limit: 1 %}{{a}}{{b}}{{c}} {% endfor %}{% endfor %}{% endfor %}":                              "bbb abb Cbb abb ",

		"{{doc.none|default:'x'}}{{doc.blank|default:'y'}}{{doc.no|default:'z'}}{{doc.price|default:'w'}}":                                                                 "xyz9.5",
		"{{doc.o|json}}{{doc.tags|json}}{{doc.price|json}}{{doc.none|json}}":                                                                                               `{"a":1,"b":"x"}["b","a","C","a"]9.5null`,
		"{{doc.tags|sort|join}} {{doc.tags|sort_natural|join}} {{doc.tags|uniq|join:'-'}} {{doc.tags|reverse|join:''}}":                                                    "C a a b a a b C b-a-C aCab",
		"{{doc.tags|first}}{{doc.tags|last}}{{doc.tags|size}} {{doc.list|map:'n'|join}} {{doc.list|sort:'v'|map:'n'|join}}":                                                "ba4 x y y x",
		"{{ doc.tags | compact | concat: doc.tags | size }} {{doc.text|split:' '|size}} {{'a,b,,'|split:','|join:'|'}} {{'añ'|split:''|join:'|'}}":                         "8 9 a|b a|ñ",
		"{{doc.title|slice:2,3}} {{doc.title|slice:-3}} {{doc.title|slice:-3,2}} {{doc.title|slice:99}}|":                                                                  "lar / /b |",
		"{{doc.text|truncate:10}} {{doc.title|truncate:10,'~'}} {{doc.day|truncate:10}} {{'one two'|truncatewords:2}} {{'one two'|truncatewords:1,'~'}}":                   "the qui... Solaris &~ 2024-03-05 one two one~", // truncated behind line breaks too
		"{{doc.day|upcase}}{{'ÄB'|downcase}}{{'élan'|capitalize}} {{ ' x ' | strip }}|{{ ' x ' | lstrip }}|{{ ' x '|rstrip}}|":                                             "2024-03-05äbÉlan x|x | x|",
		"{{doc.title|escape}} {{doc.title|strip_html}} {{doc.title|url_encode}} {{'%20a+b'|url_decode}} {{'&lt;<'|escape_once}}":                                           "Solaris &amp; &lt;b&gt;Co&lt;/b&gt; Solaris & Co Solaris+%26+%3Cb%3ECo%3C%2Fb%3E  a b &lt;&lt;",
		"{{doc.text|newline_to_br}} {{doc.text|strip_newlines}}":                                                                                                           "the quick brown fox<br />jumps over  the lazy dog the quick brown foxjumps over  the lazy dog",
		"{{'oxo'|replace:'o','0'}}{{'oxo'|replace_first:'o','0'}}{{'oxo'|remove:'o'}}{{'oxo'|remove_first:'o'}}{{'x'|append:'!'|prepend:'?'}}":                             "0x00xoxxo?x!",
		"{{doc.year|plus:1}} {{doc.year|minus:1.5}} {{doc.year|times:2}} {{doc.year|divided_by:2}} {{doc.year|divided_by:2.0}} {{doc.year|modulo:7}} {{doc.o.a|plus:'2'}}": "1962 1959.5 3922 980 980.5 1 3",
		"{{doc.price|ceil}} {{doc.price|floor}} {{doc.price|round}} {{3.14159|round:2}} {{ -3|abs }}":                                                                      "10 9 10 3.14 3",
		"{{doc.day|date:'%Y-%m-%d %B %b %e %j %A %a %y %p'}} {{doc.day|date}} {{'soon'|date:'%Y'}}":                                                                        "2024-03-05 March Mar  5 065 Tuesday Tue 24 AM Tue, Mar 05, 24 soon",
		"{{doc.when|date:'%H:%M:%S %I %l %k %s %u %w %U %W %V %G %-d %-m %3d %C %D %F %T %R %^a %%'}}":                                                                     "14:07:09 02  2 14 1709647629 2 2 09 10 10 2024 5 3 005 20 03/05/24 2024-03-05 14:07:09 14:07 TUE %",
	} {
		if got, err := render(t, text, newData()); err != nil || got != want {
			t.Errorf("%s\n is %q, %v\nwant %q", text, got, err, want)
		}
	}
}

// TestTemplateMistakes wants an error that says what is wrong.
func TestTemplateMistakes(t *testing.T) {
	for text, says := range map[string]string{
		"a\n\n{{ x ":                        "line 3: a {{ has no end",
		"{% if x":                           "a {% has no end",
		"{{ 'x }}":                          "has no end",
		"{{ }}":                             "nothing in it",
		"{% if x %}":                        "no endif",
		"{% for x in y %}{% endif %}":       "`endif`",
		"{% endfor %}":                      "`endfor`",
		"{% else %}":                        "`else`",
		"{% raw %}{{ x }}":                  "no endraw",
		"{% include 'x' %}":                 "`include`",
		"{% tablerow x in y %}":             "`tablerow`",
		"{{ x | nofilter }}":                "`nofilter`",
		"{{ x | upcase: 1, 2 }}":            "at most 0 arguments",
		"{{ x y }}":                         "`y`",
		"{{ x | }}":                         "a name is missing",
		"{{ 99999999999999999999 }}":        "too large",
		"{% for x y %}{% endfor %}":         "`in`",
		"{% for x in y cols:2 %}{%endfor%}": "`cols`",
		"{% assign x %}":                    "`=`",
		"{{ (1..(2000000000)) }}":           "more than 65536 numbers",
		"{{ " + strings.Repeat("(", 100) + "x" + strings.Repeat(")", 100) + " }}":     "parentheses",
		strings.Repeat("{% if x %}", 100) + strings.Repeat("{% endif %}", 100):        "64 blocks",
		strings.Repeat("{% for x in y %}", 100) + strings.Repeat("{% endfor %}", 100): "64 blocks",
		"{{ x" + strings.Repeat("[x", 100) + strings.Repeat("]", 100) + " }}":         "brackets",
	} {
		if _, err := template.Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.100s: %v, want it to say %s", text, err, says)
		}
	}
}

// TestTemplateKeepsData wants the variables as they were, so that they can be
// shown to the next template.
func TestTemplateKeepsData(t *testing.T) {
	data := newData()
	before, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := render(t, `{% assign doc = 1 %}{% assign x = fields | sort: 'name' | reverse | concat: fields %}{% for fields in x %}{% endfor %}`, data); err != nil {
		t.Fatal(err)
	}
	after, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if string(after) != string(before) {
		t.Errorf("the data are %s after a rendering, want %s", after, before)
	}
}
