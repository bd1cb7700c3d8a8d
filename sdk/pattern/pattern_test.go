package pattern

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/sdk/plugintest"
	"github.com/parley-search/parley/sdk/rawjson"
)

// reading is what a document holds, read in full: the text, the numbers, and
// everything else as it stands but for space between tokens.
type reading struct {
	text    string
	numbers []Number
	rest    string
}

// read reads a document and tells d of what it finds.
func read(doc []byte, d *Draft) (r reading, ok bool) {
	v, ok := rawjson.Parse(doc)
	if !ok || v.Kind() != rawjson.Object {
		return r, false
	}
	d.Begin(doc)
	var rest strings.Builder
	r.walk(v, d, &rest)
	r.rest = rest.String()
	return r, true
}

func (r *reading) walk(v rawjson.Value, d *Draft, rest *strings.Builder) {
	for m := v.Members(); m.Next(); {
		fmt.Fprintf(rest, "%s:", m.Key)
		switch key := string(m.Key); key {
		case "text":
			if m.Value.Kind() == rawjson.String {
				r.text = m.Value.String()
				d.Text(9, m.Value)
				continue
			}
		case "a", "b":
			n, _ := m.Value.Int()
			r.numbers = append(r.numbers, Number{key[0], uint64(n)})
			d.Number(key[0], m.Value)
			continue
		}
		r.inner(m.Value, d, rest)
	}
}

func (r *reading) inner(v rawjson.Value, d *Draft, rest *strings.Builder) {
	switch v.Kind() {
	case rawjson.Object:
		rest.WriteByte('{')
		r.walk(v, d, rest)
		rest.WriteByte('}')
	case rawjson.Array:
		rest.WriteByte('[')
		for it := v.Items(); it.Next(); {
			r.inner(it.Value, d, rest)
			rest.WriteByte(',')
		}
		rest.WriteByte(']')
	default:
		rest.Write(v)
		rest.WriteByte(' ')
	}
}

// hold holds what Match says of second, by the pattern that first makes, to
// reading second in full; it reports whether second fitted.
func hold(t *testing.T, first, second []byte) (fits bool) {
	t.Helper()
	var d Draft
	taught, ok := read(first, &d)
	if !ok {
		return false
	}
	var s State
	before := []byte("memo")
	literals, ok := d.Learn(&s, slices.Clone(before))
	if ok != s.Known() {
		t.Fatalf("Learn says %v, Known %v", ok, s.Known())
	}
	if !ok {
		return false
	}
	literals = literals[len(before):]
	var m Match
	if !s.Match(literals, first, &m) {
		t.Fatalf("%s does not fit the pattern of itself", first)
	}
	if !s.Match(literals, second, &m) {
		return false
	}
	want, ok := read(second, &d)
	if !ok {
		t.Fatalf("%q fits %q, and is no JSON", second, first)
	}
	got := reading{string(m.Plain(nil)), m.Numbers(), taught.rest}
	if got.text != want.text || !slices.Equal(got.numbers, want.numbers) || got.rest != want.rest || m.What != 9 {
		t.Fatalf("%q fits %q as %+v, read in full it is %+v", second, first, got, want)
	}
	return true
}

var documents = []string{
	`{"text":"one"}`,
	`{"id":"x","a":1,"deep":[{"b":20,"c":[{"text":"one"}],"else":"xxx"}],"b":3}`,
	`{"b":7,"text":"\n","else":12,"a":0 }`,
	`{"text":"first","none":{"text":null},"else":"","a":100   }`,
	"{\n  \"a\": 5,\n  \"text\": \"one\",\n  \"skip\": [1]\n}\n",
	`{"text":"one","a":1,"b":2,"a":3,"b":4,"a":5,"b":6,"a":7}`,
	`{"text":"one","text":"two"}`,
	`{"text":"one","a":-1}`,
}

// TestMatchProperty: what fits is what reading in full says it is.
func TestMatchProperty(t *testing.T) {
	fitted := 0
	const turns = 40000
	for seed := range uint64(turns) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		first := []byte(documents[rnd.IntN(len(documents))])
		if rnd.IntN(3) == 0 {
			first = plugintest.Alike(rnd, first)
		}
		second := first
		for range 1 + rnd.IntN(3) {
			second = plugintest.Alike(rnd, second)
		}
		if hold(t, first, second) {
			fitted++
		}
	}
	if fitted < turns/20 {
		t.Errorf("%d of %d fitted: too few to say anything", fitted, turns)
	}
}

func FuzzMatch(f *testing.F) {
	for i, d := range documents {
		f.Add([]byte(d), []byte(documents[(i+1)%len(documents)]))
		f.Add([]byte(d), []byte(strings.NewReplacer("one", `\"2`, "1", "2").Replace(d)))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) { hold(t, first, second) })
}

func TestMatch(t *testing.T) {
	long := strings.Repeat("x", MaxLiterals)
	tests := []struct {
		name, first, second string
		fits                bool
	}{
		{"text", `{"text":"a"}`, `{"text":""}`, true},
		{"text with escapes", `{"text":"a"}`, `{"text":"\\\"\u00e9"}`, true},
		{"a wrong escape", `{"text":"a"}`, `{"text":"\x"}`, false},
		{"a quote that is escaped", `{"text":"a"}`, `{"text":"b\"}`, false},
		{"long text", `{"text":"a"}`, `{"text":"` + long + `"}`, true},
		{"numbers", `{"a":1,"text":"a","b":2}`, `{"a":999999999999999999,"text":"a","b":0}`, true},
		{"too many digits", `{"a":1,"text":"a"}`, `{"a":1000000000000000000,"text":"a"}`, false},
		{"a zero in front", `{"a":1,"text":"a"}`, `{"a":01,"text":"a"}`, false},
		{"a sign", `{"a":1,"text":"a"}`, `{"a":-1,"text":"a"}`, false},
		{"a fraction", `{"a":1,"text":"a"}`, `{"a":1.0,"text":"a"}`, false},
		{"an exponent", `{"a":1,"text":"a"}`, `{"a":1e1,"text":"a"}`, false},
		{"no number", `{"a":1,"text":"a"}`, `{"a":,"text":"a"}`, false},
		{"a text for a number", `{"a":1,"text":"a"}`, `{"a":"1","text":"a"}`, false},
		{"a sign to learn from", `{"a":-1,"text":"a"}`, `{"a":-1,"text":"a"}`, false},
		{"the rest", `{"text":"a","c":1}`, `{"text":"a","c":2}`, false},
		{"more behind", `{"text":"a"}`, `{"text":"a"} `, false},
		{"cut off", `{"text":"a"}`, `{"text":"a"`, false},
		{"cut off in the text", `{"text":"a"}`, `{"text":"a`, false},
		{"nothing", `{"text":"a"}`, ``, false},
		{"two texts", `{"text":"a","text":"b"}`, `{"text":"a","text":"b"}`, false},
		{"no text", `{"a":1}`, `{"a":1}`, false},
		{"literals at their bound", `{"text":"a","c":"` + long[:MaxLiterals-18] + `"}`, `{"text":"b","c":"` + long[:MaxLiterals-18] + `"}`, true},
		{"literals beyond", `{"text":"a","c":"` + long[:MaxLiterals-17] + `"}`, `{"text":"b","c":"` + long[:MaxLiterals-17] + `"}`, false},
		{"holes at their bound", `{"text":"a","a":1,"a":1,"a":1,"a":1,"a":1,"a":1,"a":1}`, `{"text":"b","a":2,"a":3,"a":4,"a":5,"a":6,"a":7,"a":8}`, true},
		{"holes beyond", `{"text":"a","a":1,"a":1,"a":1,"a":1,"a":1,"a":1,"a":1,"a":1}`, `{"text":"b","a":1,"a":1,"a":1,"a":1,"a":1,"a":1,"a":1,"a":1}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := hold(t, []byte(tt.first), []byte(tt.second)); got != tt.fits {
				t.Errorf("fits: %v, want %v", got, tt.fits)
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	doc := []byte(documents[1])
	var d Draft
	read(doc, &d)
	var s State
	literals, _ := d.Learn(&s, nil)
	var m Match
	b.ReportAllocs()
	for b.Loop() {
		if !s.Match(literals, doc, &m) {
			b.Fatal("no match")
		}
	}
}
