package ingest

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// records reads a body, and returns the documents with the line that each begins at.
func records(body string, f BodyFormat) (docs []string, lines []int, err error) {
	err = EachRecord(strings.NewReader(body), f, ',', func(r Record) error {
		docs, lines = append(docs, string(r.Body)), append(lines, r.Line)
		return nil
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return docs, lines, err
}

// TestRecords reads bodies of each format.
func TestRecords(t *testing.T) {
	for _, tt := range []struct {
		format     BodyFormat
		body, want string // documents with | between
		says       string // of the error; "": none
	}{
		{JSON, `[{"a":1}, {"b":[2]}]`, `{"a":1}|{"b":[2]}`, ""},
		{JSON, `{"a":1}`, `{"a":1}`, ""},
		{JSON, `[]`, ``, ""},
		{JSON, `[{"a":1},`, `{"a":1}`, "end"},
		{JSON, `[{"a":1} {"a":2}]`, `{"a":1}`, "line 1"},
		{NDJSON, "{\"a\":1}\n\n{\"a\":2}", `{"a":1}|{"a":2}`, ""},
		{NDJSON, "{\"a\":1}\n{\"a\":", `{"a":1}`, "line 2"},
		{CSV, "id,name\n1,\"a, b\"\n2,\n", `{"id":"1","name":"a, b"}|{"id":"2","name":null}`, ""},
		{CSV, "id:number,ok:boolean\n7,true\n", `{"id":7,"ok":true}`, ""},
		{CSV, "id:number\nseven\n", ``, "seven"},
		{CSV, "id,name\n1\n", ``, "Line 2"},
	} {
		docs, _, err := records(tt.body, tt.format)
		if got := strings.Join(docs, "|"); got != tt.want || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s %q: %s, %v; want %s and an error of %q", tt.format, tt.body, got, err, tt.want, tt.says)
		}
	}
	if _, lines, _ := records("{\"a\":1}\n\n{\"a\":2}\n", NDJSON); len(lines) != 2 || lines[1] != 3 {
		t.Errorf("the documents begin at lines %v, want 1 and 3", lines)
	}
}

// TestCheck finds ids, and refuses what is no document.
func TestCheck(t *testing.T) {
	check := func(c Checker, body string) (Received, error) {
		return c.Check(Record{n: 1, Line: 1, Body: []byte(body)})
	}
	for _, tt := range []struct{ key, body, id, says string }{
		{"", `{"sku_id":"A-1","x":1}`, "A-1", ""},
		{"n", `{"n":42}`, "42", ""},
		{"", `{"a_id":1,"b_id":2}`, "", "primary key"},
		{"", `{"name":"x"}`, "", "primary key"},
		{"id", `{"name":"x"}`, "", "id"},
		{"id", `{"id":"a b"}`, "", "a b"},
		{"id", `{"id":1.5}`, "", "1.5"},
		{"id", `[1]`, "", "array"},
	} {
		d, err := check(Checker{Key: tt.key}, tt.body)
		if d.ID != tt.id && tt.says == "" || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s with key %q: id %q, %v; want %q and an error of %q", tt.body, tt.key, d.ID, err, tt.id, tt.says)
		}
	}
	if _, err := check(Checker{Key: "id", Places: true}, `{"id":1,"_geo":{"lat":91,"lng":0}}`); err == nil || !strings.Contains(err.Error(), "_geo") {
		t.Errorf("a latitude of 91: %v, want an error that names _geo", err)
	}
	d, err := check(Checker{Key: "id"}, `{"id":1,"_vectors":{"e":[1,2]},"t":"x"}`)
	if err != nil || strings.Contains(string(d.Body), "_vectors") || len(d.Given) != 1 || len(d.Given["e"].Vectors) != 1 {
		t.Errorf("vectors: body %s, given %v, %v; want them taken out of the body", d.Body, d.Given, err)
	}
}

// TestGenerateID gives the same id to the same content, in whatever order, and leaves ids alone.
func TestGenerateID(t *testing.T) {
	id := func(doc string) string {
		t.Helper()
		b, err := GenerateID([]byte(doc), "id")
		if err != nil {
			t.Fatal(err)
		}
		d, err := (&Checker{Key: "id"}).Check(Record{n: 1, Line: 1, Body: b})
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		return d.ID
	}
	a := id(`{"x":1,"y":[2]}`)
	if b := id(`{"y": [2], "x":1, "id":null}`); a != b {
		t.Errorf("the same content has the ids %s and %s", a, b)
	}
	if b := id(`{"x":1,"y":[3]}`); a == b {
		t.Errorf("other content has the same id %s", a)
	}
	if got := id(`{"id":"mine","x":1}`); got != "mine" {
		t.Errorf("the id is %s, want mine", got)
	}
}

// TestDedupe keeps the last of members with one name.
func TestDedupe(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"b":{"c":1,"c":2},"a":3}`:        `{"a":3,"b":{"c":2}}`,
		`{"a":1,"b":[{"a":1}]}`:                  `{"a":1,"b":[{"a":1}]}`,
		`[{"x":1e400,"x":12345678901234567890}]`: `[{"x":12345678901234567890}]`,
	} {
		if got := string(Dedupe([]byte(in))); got != want {
			t.Errorf("Dedupe(%s) = %s, want %s", in, got, want)
		}
	}
}
