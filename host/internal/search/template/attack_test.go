package template

import (
	"context"
	"errors"
	"runtime/metrics"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// attacks are templates that ask for more time or memory than there is. Each of
// the first five hung or ended the host of an earlier version.
var attacks = map[string]string{
	"a range in parentheses":      `{% assign n = 2000000000 %}{% for i in (1..(n)) %}{% endfor %}`,
	"ends of loops in raw":        `{% raw %}` + strings.Repeat(`{% endfor %}`, 20) + `{% endraw %}` + nested(6, `{% for x%d in doc.x %}`, ``),
	"ends of loops in a comment":  `{% comment %}` + strings.Repeat(`{% endfor %}`, 20) + `{% endcomment %}` + nested(6, `{% for x%d in doc.x %}`, ``),
	"split by nothing":            `{% assign a = doc.big | split: "" %}{% for x in a %}{% for y in a %}{% endfor %}{% endfor %}`,
	"a range as an array":         `{% assign n = 1000000000 %}{% assign a = (1..n) | reverse %}`,
	"ranges within each other":    nested(6, `{% for x%d in (1..60000) %}`, ``),
	"a text that doubles":         `{% assign s = 'xx' %}{% for i in (1..99) %}{% assign s = s | append: s %}{% endfor %}`,
	"a text that multiplies":      `{% assign s = 'aa' %}{% for i in (1..99) %}{% assign s = s | replace: 'a', 'aaaaaaaa' %}{% endfor %}`,
	"an array that doubles":       `{% assign s = doc.x %}{% for i in (1..99) %}{% assign s = s | concat: s %}{% endfor %}`,
	"many long texts":             `{% for i in (1..60000) %}{% assign s = doc.big | append: i %}{% endfor %}`,
	"many captures":               `{% for i in (1..60000) %}{% capture s %}{{ doc.big }}{% endcapture %}{% endfor %}`,
	"a capture that grows":        `{% for i in (1..60000) %}{% capture s %}{{ s }}{{ s }}xx{% endcapture %}{% endfor %}`,
	"a long join":                 `{% for i in (1..60000) %}{% assign s = doc.x | join: doc.big %}{% endfor %}`,
	"a wide date":                 `{% for i in (1..60000) %}{{ '2024-01-01' | date: '%999999999999Y%99999999Y' }}{% endfor %}`,
	"many dates":                  `{% for i in (1..60000) %}{% assign s = 'no date' | date: '%Y' %}{% endfor %}`,
	"sorting":                     `{% for i in (1..60000) %}{% assign s = doc.x | sort %}{% endfor %}`,
	"sorting long texts":          `{% assign a = doc.big | split: 'xx' %}{% for i in (1..60000) %}{% assign s = a | sort_natural %}{% endfor %}`,
	"comparing long texts":        `{% assign a = doc.big | append: 'a' %}{% assign b = doc.big | append: 'b' %}{% for i in (1..60000) %}{% if a == b or a < b %}{% endif %}{% endfor %}`,
	"searching long texts":        `{% for i in (1..60000) %}{% if doc.big contains 'xxxxxxxxxxxxxxxxxxxxxy' %}{% endif %}{% endfor %}`,
	"unlike arrays, all pairs":    `{% assign a = doc.pairs | concat: doc.pairs | concat: doc.pairs | concat: doc.pairs %}{% for i in (1..60000) %}{% assign u = a | uniq %}{% endfor %}`,
	"a deep value":                `{% for i in (1..60000) %}{% assign s = doc.deep | json %}{{ doc.deep }}{% if doc.deep == doc.deep %}{% endif %}{% endfor %}`,
	"tags without an end":         `{% for i in (1..60000) %}{% assign s = doc.tags | strip_html %}{% endfor %}`,
	"escapes":                     `{% assign s = doc.big | replace: 'x', '&' %}{% for i in (1..60000) %}{% assign s = s | escape %}{% endfor %}`,
	"URLs":                        `{% assign s = doc.big | replace: 'x', '/' %}{% for i in (1..60000) %}{% assign s = s | url_encode %}{% endfor %}`,
	"cutting long texts":          `{% for i in (1..60000) %}{% assign s = doc.big | truncatewords: 9 | truncate: 9 %}{% assign s = doc.big | slice: -1 %}{% assign s = doc.big | size %}{% endfor %}`,
	"an object's keys":            `{% for i in (1..60000) %}{% for p in doc.wide %}{% break %}{% endfor %}{% endfor %}`,
	"a long expression":           `{% for i in (1..60000) %}{% if a` + strings.Repeat(` or a`, 1500) + `%}{% endif %}{% endfor %}`,
	"an object in many places":    `{% for i in (1..60000) %}{% assign s = doc | json %}{% endfor %}`,
	"a number of many digits":     `{% assign n = 9 %}{% for i in (1..60000) %}{% assign n = n | times: 9e9 | append: doc.big | plus: 1 %}{% endfor %}`,
	"numbers out of long texts":   `{% for i in (1..60000) %}{% assign n = doc.digits | plus: 1 %}{% endfor %}`,
	"a range's text":              `{% for i in (1..60000) %}{% assign s = (1..60000) %}{{ s }}{% endfor %}`,
	"members of an object by key": `{% for i in (1..60000) %}{% assign s = doc[doc.big] %}{% endfor %}`,
}

// nested is body within depth blocks, each begun by open with its number.
func nested(depth int, open, body string) string {
	for i := range depth {
		body = strings.ReplaceAll(open, "%d", string(rune('a'+i))) + body + `{% endfor %}`
	}
	return body
}

// hostileData is as much as a large document has.
func hostileData() map[string]any {
	x := make([]any, 100)
	pairs := make([]any, 100)
	wide := map[string]any{}
	for i := range x {
		x[i] = strings.Repeat("abc", 1000) + string(rune('a'+i))
		pairs[i] = []any{int64(i), "x"}
	}
	for i := range 10_000 {
		wide[strings.Repeat("k", i%50)+string(rune(i+1000))] = int64(i)
	}
	deep := any("bottom")
	for range 5_000 {
		deep = []any{deep}
	}
	return map[string]any{"doc": map[string]any{
		"x": x, "pairs": pairs, "wide": wide, "deep": deep, "big": strings.Repeat("x", 1<<20), "tags": strings.Repeat("<", 1<<18), "digits": strings.Repeat("9", 1<<20),
	}}
}

// allocated returns the bytes that the process took from the heap so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestTemplateAttacks has each attack end within its steps, and within a few
// times the memory that is counted: what filters take for a moment is not.
func TestTemplateAttacks(t *testing.T) {
	data := hostileData()
	for name, text := range attacks {
		parsed, err := Parse(text)
		if err != nil {
			continue // as good
		}
		b := NewBudget(t.Context())
		before, start := allocated(), time.Now()
		_, err = parsed.Render(b, data, Output{MaxBytes: 64 << 10})
		took, bytes := time.Since(start), allocated()-before
		if b.steps < 0 || b.steps > MaxSteps || b.memory < 0 {
			t.Errorf("%s: %d steps and %d bytes are left", name, b.steps, b.memory)
		}
		if bytes > 8*MaxMemory {
			t.Errorf("%s took %d MiB", name, bytes>>20)
		}
		t.Logf("%-28s %6d steps %4d MiB %8v %v", name, MaxSteps-b.steps, bytes>>20, took.Round(time.Millisecond), err)
	}
}

// TestTemplateBudgetIsShared has one budget for several renderings.
func TestTemplateBudgetIsShared(t *testing.T) {
	parsed, err := Parse(`{% for i in (1..60000) %}{% endfor %}`)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBudget(t.Context())
	for i := range 5 {
		_, err = parsed.Render(b, nil, Output{MaxBytes: 1})
		if want := i == 4; errors.Is(err, errSteps) != want {
			t.Errorf("rendering %d of 60,000 steps each: %v", i, err)
		}
	}
}

// TestTemplateEndsWithContext ends a rendering that a client left.
func TestTemplateEndsWithContext(t *testing.T) {
	parsed, err := Parse(attacks["ranges within each other"])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b := NewBudget(ctx)
	cancel()
	if _, err := parsed.Render(b, nil, Output{MaxBytes: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a rendering whose context ended: %v, want %v", err, context.Canceled)
	}
	if used := MaxSteps - b.steps; used > lookEvery {
		t.Errorf("it ended after %d steps, want at most %d", used, lookEvery)
	}
}

// TestTemplateTime has the machine keep a rendering waiting for longer than it
// may take: it goes on all the same. What takes its time by itself ends.
func TestTemplateTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(t.Context())
		for range 5 {
			time.Sleep(time.Minute)
			b.look()
		}
		defer func() {
			if p := recover(); p != any(failure{errTime}) {
				t.Errorf("a rendering of two seconds of its own: %v, want %v", p, errTime)
			}
		}()
		for range 2000 {
			time.Sleep(time.Millisecond)
			b.look()
		}
	})
}

// TestTemplateText cuts a text a little after its limit, and demands values.
func TestTemplateText(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		demand     bool
		err        error
	}{
		{text: "{{ a }}", want: "ééééé"},
		{text: "{{ a }}{{ a }}", want: "ééééééé", err: ErrFull}, // 10 bytes and 4 more
		{text: "{{ b }}", want: ""},
		{text: "x{{ b }}", want: "x", demand: true, err: ErrAbsent},
		{text: "{{ b.c | upcase }}", demand: true, err: ErrAbsent},
		{text: "{{ b | default: 'd' | upcase }}", want: "D", demand: true},
		{text: "{% if b %}{{ b }}{% endif %}{% assign c = b %}", demand: true},
	} {
		parsed, err := Parse(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parsed.Render(NewBudget(t.Context()), map[string]any{"a": "ééééé"}, Output{MaxBytes: 10, Demand: tt.demand})
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v; want %q, %v", tt.text, got, err, tt.want, tt.err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for name, text := range map[string]string{
		"simple": "A film titled '{{ doc.title }}' of {{ doc.year }}: {{ doc.text | truncatewords: 20 }}",
		"fields": "{% for field in fields %}{% if field.is_searchable and field.value != nil %}{{ field.name }}: {{ field.value }}\n{% endif %}{% endfor %}",
	} {
		parsed, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		var fields []any
		for _, n := range []string{"title", "year", "text", "tags"} {
			fields = append(fields, map[string]any{"name": n, "value": n + " of it", "is_searchable": true})
		}
		data := map[string]any{"doc": map[string]any{"title": "Solaris", "year": int64(1961), "text": strings.Repeat("some words ", 100)}, "fields": fields}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parsed.Render(NewBudget(b.Context()), data, Output{MaxBytes: 400}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a rendering of FuzzTemplate may take: less than others, so that there are
// many of them.
const (
	fuzzSteps  = 5_000
	fuzzMemory = 2 << 20
)

// FuzzTemplate holds parser and interpreter to their bounds: whatever the
// template and the document, a rendering takes no more steps, memory and bytes
// than it may, does not panic, and is the same the second time.
func FuzzTemplate(f *testing.F) {
	for _, text := range attacks {
		f.Add(text, "abc def\n", 3, uint16(400))
	}
	f.Add("{% for field in fields %}{% if field.is_searchable and field.value != nil %}{{ field.name }}: {{ field.value }}\n{% endif %}{% endfor %}", "x", 1, uint16(9))
	f.Add("{%- case doc.n -%}{% when 1, 'a' %}{{ doc.s | slice: -3, 2 | date: '%-5Y' }}{% else %}{% unless doc.o contains 'a' %}{{ doc.l[-1].b }}{% endunless %}{% endcase %}{% raw %}{{{% endraw %}", "2024-05-06", 2, uint16(99))
	f.Fuzz(func(t *testing.T, text, s string, n int, limit uint16) {
		if len(text) > 8<<10 || len(s) > 64<<10 {
			t.Skip()
		}
		parsed, err := Parse(text)
		if err != nil {
			return
		}
		n = n & 1023
		list := []any{s, int64(n), nil, true, 1.5, []any{s}, map[string]any{"b": s}}
		for i := range n {
			list = append(list, int64(i))
		}
		doc := map[string]any{"s": s, "n": int64(n), "l": list, "x": list, "o": map[string]any{"a": s, "b": list, s: nil}, "big": strings.Repeat(s, min(n, 20)), "none": nil}
		data := map[string]any{"doc": doc, "fields": []any{map[string]any{"name": "s", "value": s, "is_searchable": true}}}
		once := func() (string, int, error) {
			b := NewBudget(t.Context())
			b.steps, b.memory = fuzzSteps, fuzzMemory
			before := allocated()
			got, err := parsed.Render(b, data, Output{MaxBytes: int(limit)})
			if bytes := allocated() - before; bytes > 8*fuzzMemory {
				t.Errorf("it took %d MiB", bytes>>20)
			}
			if b.steps < 0 || b.memory < 0 || b.left < 0 && !errors.Is(err, errTime) {
				t.Errorf("%d steps, %d bytes and %v are left", b.steps, b.memory, b.left)
			}
			if errors.Is(err, errTime) {
				t.Errorf("a step takes too long: %d of them took more than %v", fuzzSteps-b.steps, maxTime)
			}
			if len(got) > int(limit)+utf8.UTFMax || len(got) > int(limit) && !errors.Is(err, ErrFull) {
				t.Errorf("a text of %d bytes for a limit of %d, %v", len(got), limit, err)
			}
			return got, b.steps, err
		}
		got, steps, err := once()
		again, steps2, err2 := once()
		if strings.Contains(text, "date") || errors.Is(err, errTime) {
			return // it may show the time
		}
		if got != again || (err == nil) != (err2 == nil) || steps != steps2 {
			t.Errorf("the second time it is %q, %v in %d steps; first %q, %v in %d", again, err2, steps2, got, err, steps)
		}
	})
}
