package search_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
)

func TestRecords(t *testing.T) {
	tests := []struct {
		name   string
		format ingest.BodyFormat
		comma  byte
		body   string
		want   string // the records with their lines
		err    string // in the error behind them; "": the end
	}{
		{"array", ingest.JSON, 0, " [ {\"a\":\"x]\\\"\"} ,\n{\"b\":[1,{}]}\n]\n", `1:{"a":"x]\""} 2:{"b":[1,{}]}`, ""},
		{"object", ingest.JSON, 0, "\n{\"a\":1}", `2:{"a":1}`, ""},
		{"empty array", ingest.JSON, 0, `[]`, ``, ""},
		{"scalars", ingest.JSON, 0, `[1,"a",null ,true]`, `1:1 1:"a" 1:null 1:true`, ""},
		{"cut off", ingest.JSON, 0, "[{},\n{\"a\":", `1:{}`, "unexpected end of JSON input, at line 2, column 6"},
		{"cut off after a comma", ingest.JSON, 0, "[{},", `1:{}`, "unexpected end of JSON input, at line 1, column 5"},
		{"comma too many", ingest.JSON, 0, "[{},]", `1:{}`, "invalid character ']' looking for beginning of value, at line 1, column 5"},
		{"no comma", ingest.JSON, 0, "[{} {}]", `1:{}`, "invalid character '{' after array element, at line 1, column 5"},
		{"comma first", ingest.JSON, 0, "[,{}]", ``, "at line 1, column 2"},
		{"more behind", ingest.JSON, 0, "[]\n[]", ``, "after the end of the documents, at line 2, column 1"},
		{"two objects", ingest.JSON, 0, "{}{}", `1:{}`, "after the end of the documents"},
		{"brackets crossed", ingest.JSON, 0, `[{"a":[}]]`, ``, "invalid character '}'"},
		{"bad number", ingest.JSON, 0, "[{\"a\":\n01}]", ``, "at line 2, column 2"},
		{"no body", ingest.JSON, 0, " \n", ``, "empty"},
		{"lines", ingest.NDJSON, 0, "{\"a\":1}\r\n\n {\"b\":2} ", `1:{"a":1} 3:{"b":2}`, ""},
		{"several objects a line", ingest.NDJSON, 0, "{\"a\":1}{\"b\":2} {\"c\":3}\n{\"d\":4}", `1:{"a":1} 1:{"b":2} 1:{"c":3} 2:{"d":4}`, ""},
		{"an object and no other", ingest.NDJSON, 0, "{\"a\":1}{\"b\":2}x", `1:{"a":1}`, "line 1"},
		{"a value that is no object behind one", ingest.NDJSON, 0, "{\"a\":1} 2", ``, "line 1"},
		{"broken line", ingest.NDJSON, 0, "{}\n{\"b\":\n2}", `1:{}`, "line 2"},
		{"not UTF-8", ingest.NDJSON, 0, "{}\n{\"b\":\"\xff\"}", `1:{}`, "not UTF-8, at line 2, column 7"},
		{
			"table", ingest.CSV, 0, "id:number,title,sold:boolean,note:string,odd:x\n1,\"a \"\"b\"\",\n2\",TRUE,,\n -2.5e3 ,é,false,n,o\n",
			`2:{"id":1,"title":"a \"b\",\n2","sold":true,"note":null,"odd:x":null} 4:{"id":-2.5e3,"title":"é","sold":false,"note":"n","odd:x":"o"}`, "",
		},
		{"semicolons", ingest.CSV, ';', "\xef\xbb\xbfid;x\n1;a,b\n", `2:{"id":"1","x":"a,b"}`, ""},
		{"empty numbers", ingest.CSV, 0, "a:number,b:boolean\n ,\n", `2:{"a":null,"b":null}`, ""},
		{"no number", ingest.CSV, 0, "a:number\n1\nx\n", `2:{"a":1}`, "Line 3 of the CSV, column \"a\": `x` is not a number"},
		{"no boolean", ingest.CSV, 0, "a:boolean\n1\n", ``, "neither true nor false"},
		{"cells missing", ingest.CSV, 0, "a,b\n1,2\n3\n", `2:{"a":"1","b":"2"}`, "Line 3 of the CSV"},
		{"open quote", ingest.CSV, 0, "a,b\n1,\"2\n3\n", ``, "of the CSV"},
		{"name twice", ingest.CSV, 0, "a,a:number\n", ``, "Two columns of the CSV are called `a`"},
		{"cell not UTF-8", ingest.CSV, 0, "a\n\xff\n", ``, "not UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for way, r := range map[string]io.Reader{
				"whole":        strings.NewReader(tt.body),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.body)),
			} {
				got, err := readRecords(r, tt.format, tt.comma)
				if strings.Join(got, " ") != tt.want {
					t.Errorf("%s: records %s, want %s", way, strings.Join(got, " "), tt.want)
				}
				if tt.err == "" && !errors.Is(err, io.EOF) || tt.err != "" && !strings.Contains(fmt.Sprint(err), tt.err) {
					t.Errorf("%s: error %v, want %q", way, err, tt.err)
				}
			}
		})
	}
}

// readRecords returns the records of a body, each with its line, and the error
// behind the last.
func readRecords(r io.Reader, f ingest.BodyFormat, comma byte) (list []string, err error) {
	err = search.Records(r, f, comma, func(line int, body []byte) {
		list = append(list, fmt.Sprintf("%d:%s", line, body))
	})
	return list, err
}

// endless yields one document without end.
type endless struct{ begins string }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	copy(p, e.begins)
	e.begins = ""
	return len(p), nil
}

func TestRecordsBoundEach(t *testing.T) {
	for f, begins := range map[ingest.BodyFormat]string{ingest.JSON: `[{"a":"`, ingest.NDJSON: `{"a":"`, ingest.CSV: `a,"b`} {
		_, err := readRecords(&endless{begins}, f, 0)
		if !apierr.Is(err, apierr.MalformedPayload) || !strings.Contains(err.Error(), "32 MiB") {
			t.Errorf("%s without end: %v", f, err)
		}
	}
}

// FuzzRecords holds the reader of JSON arrays to the one of the standard
// library: the same bodies are taken, with the same elements.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{`[{"a":"]\\\""},1 , null]`, `{"a":[]}`, `[1,]`, `[[],{}]`, "[\"\\u00e9\"]\n", `[}`, `["a"b]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := readRecords(iotest.HalfReader(bytes.NewReader(body)), ingest.JSON, 0)
		var want []json.RawMessage
		trimmed := bytes.TrimLeft(body, " \t\r\n")
		var wantErr error
		if len(trimmed) > 0 && trimmed[0] == '{' {
			want = make([]json.RawMessage, 1)
			wantErr = json.Unmarshal(body, &want[0])
		} else {
			wantErr = json.Unmarshal(body, &want)
		}
		if string(bytes.TrimSpace(body)) == "null" || !bytes.Equal(bytes.ToValidUTF8(body, nil), body) {
			return // an array of none for the library; what is not UTF-8 is mended by it
		}
		if (wantErr == nil) != errors.Is(err, io.EOF) {
			t.Fatalf("records of %q: error %v; want %v", body, err, wantErr)
		}
		if wantErr != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("records of %q: %q, want %q", body, got, want)
		}
		for i, w := range want {
			if _, v, _ := strings.Cut(got[i], ":"); v != string(w) {
				t.Fatalf("record %d of %q: %s, want %s", i, body, v, w)
			}
		}
	})
}

func TestDedupe(t *testing.T) {
	many := `{"a":1,`
	for i := range 100 {
		many += fmt.Sprintf(`"f%d":0,`, i)
	}
	for doc, want := range map[string]string{
		`{"a":1,"b":{"a":1}}`:                         `{"a":1,"b":{"a":1}}`,
		`{"b":1,"a":2,"b":3}`:                         `{"a":2,"b":3}`,
		`{"a":[{"x":"<1","x":12345678901234567890}]}`: `{"a":[{"x":12345678901234567890}]}`,
		`{"a":1,"\u0061":2}`:                          `{"a":2}`,
	} {
		if got := string(search.Dedupe([]byte(doc))); got != want {
			t.Errorf("Dedupe(%s) = %s, want %s", doc, got, want)
		}
	}
	if got := string(search.Dedupe([]byte(many + `"a":2}`))); strings.Count(got, `"a":`) != 1 || !strings.Contains(got, `"a":2`) {
		t.Errorf("of 102 members, one twice, are left %s", got)
	}
	if got := string(search.Dedupe([]byte(many + `"z":2}`))); got != many+`"z":2}` {
		t.Errorf("of 102 different members are left %s", got)
	}
}

func BenchmarkRecords(b *testing.B) {
	body := movies(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := search.Records(bytes.NewReader(body), ingest.JSON, 0, func(int, []byte) {}); !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
