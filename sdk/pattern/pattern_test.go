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

// A content is what a document holds, read in full: the texts and numbers, and
// everything else as it stands but for space between tokens.
type content struct {
	found []value
	rest  string
}

// A value is a text, or a number, which has the name of its member.
type value struct {
	what uint8
	n    uint64
	text string
}

// read reads a document and tells d of what it finds.
func read(doc []byte, d *Reading) (r content, ok bool) {
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

func (r *content) walk(v rawjson.Value, d *Reading, rest *strings.Builder) {
	for m := v.Members(); m.Next(); {
		fmt.Fprintf(rest, "%s:", m.Key)
		switch key := string(m.Key); key {
		case "text":
			if m.Value.Kind() == rawjson.String {
				r.found = append(r.found, value{what: 9, text: m.Value.String()})
				d.String(9, m.Value)
				continue
			}
		case "a", "b":
			n, _ := m.Value.Int()
			r.found = append(r.found, value{what: key[0], n: uint64(n)})
			d.Number(key[0], m.Value)
			continue
		}
		r.inner(m.Value, d, rest)
	}
}

func (r *content) inner(v rawjson.Value, d *Reading, rest *strings.Builder) {
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
	var r Reading
	taught, ok := read(first, &r)
	if !ok {
		return false
	}
	r.Kind = 3
	var s State
	before := []byte("memo")
	literals, ok := r.Learn(&s, slices.Clone(before))
	if ok != s.Known() {
		t.Fatalf("Learn says %v, Known %v", ok, s.Known())
	}
	if !ok {
		return false
	}
	literals = literals[len(before):]
	if !s.Match(literals, first, &r) {
		t.Fatalf("%s does not fit the pattern of itself", first)
	}
	if !s.Match(literals, second, &r) {
		return false
	}
	got := content{rest: taught.rest}
	for _, f := range r.All() {
		v := value{what: f.What}
		if v.what != 9 {
			v.n = f.N
		} else if v.text = string(r.Text(&f)); v.text != r.Value(&f).String() {
			t.Fatalf("the text %q of %s reads %q", r.Value(&f), second, v.text)
		}
		got.found = append(got.found, v)
	}
	kind := r.Kind
	want, ok := read(second, &r)
	if !ok {
		t.Fatalf("%q fits %q, and is not JSON", second, first)
	}
	if !slices.Equal(got.found, want.found) || got.rest != want.rest || kind != 3 {
		t.Fatalf("%q fits %q as %+v of kind %d, read in full it is %+v", second, first, got, kind, want)
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
		{"two texts", `{"text":"a","text":"b"}`, `{"text":"\n","text":""}`, true},
		{"numbers alone", `{"a":1}`, `{"a":2}`, true},
		{"nothing that varies", `{"c":1}`, `{"c":1}`, true},
		{"literals at their bound", `{"text":"a","c":"` + long[:MaxLiterals-18] + `"}`, `{"text":"b","c":"` + long[:MaxLiterals-18] + `"}`, true},
		{"literals beyond", `{"text":"a","c":"` + long[:MaxLiterals-17] + `"}`, `{"text":"b","c":"` + long[:MaxLiterals-17] + `"}`, false},
		{"holes at their bound", `{"text":"a"` + strings.Repeat(`,"a":1`, MaxHoles-1) + `}`, `{"text":"b"` + strings.Repeat(`,"a":2`, MaxHoles-1) + `}`, true},
		{"holes beyond", `{"text":"a"` + strings.Repeat(`,"a":1`, MaxHoles) + `}`, `{"text":"b"` + strings.Repeat(`,"a":1`, MaxHoles) + `}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := hold(t, []byte(tt.first), []byte(tt.second)); got != tt.fits {
				t.Errorf("fits: %v, want %v", got, tt.fits)
			}
		})
	}
}

// TestKept: an instance keeps the last few patterns, and what one of them takes
// is no longer one of another.
func TestKept(t *testing.T) {
	var k Kept
	var r Reading
	document := func(i int, text string) []byte { return fmt.Appendf(nil, `{"c":%d,"text":"%s"}`, i, text) }
	keep := func(doc []byte) {
		read(doc, &r)
		k.Keep(&r)
	}
	keep(document(maxKept, "a")) // the first of two forms: the number has one digit, or two
	keep(document(0, "a"))
	for i := range maxKept + 1 {
		if k.Match(document(i, "b"), &r) {
			t.Errorf("document %d fits before it was kept", i)
		}
		keep(document(i, "a"))
	}
	read([]byte(`{"a":-1}`), &r)
	k.Keep(&r) // it makes none, and takes no place
	for i := range maxKept + 1 {
		fits := k.Match(document(i, "b"), &r)
		if want := i > 0; fits != want {
			t.Errorf("document %d fits: %v, want %v", i, fits, want)
		}
		if fits && string(r.Text(&r.All()[0])) != "b" {
			t.Errorf("document %d has the text %q, want b", i, r.Text(&r.All()[0]))
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	doc := []byte(documents[1])
	var r Reading
	read(doc, &r)
	var s State
	literals, _ := r.Learn(&s, nil)
	b.ReportAllocs()
	for b.Loop() {
		if !s.Match(literals, doc, &r) {
			b.Fatal("no match")
		}
	}
}
