package plugin

import (
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// FuzzEncodeResponse holds what is read by hand to what package json reads.
func FuzzEncodeResponse(f *testing.F) {
	for _, answer := range []string{
		`{"method":"POST","url":"http://h/v1","headers":{"Accept":"*/*","A\n":"\u00e9\xff"},"body":{"a":[1, 2]},"framing":"sse"}`,
		` {"url" : "u" , "body" : "text" }`, `{"url":"u","body":null,"headers":null}`, `{"url":"u","URL":"v","headers":{"a":"1","a":"2"}}`,
		`{"reply":"r"}`, `{"reply":null,"method":""}`, `{"method":"","method":"GET","body":1,"body":2}`, `{"headers":{"a":1}}`, `{"headers":[]}`,
		`{"headers":{"a":"b"},"headers":{"c":"d"}}`, `{"url":1}`, `{"more":{}}`, `{}`, `[]`, ``, `{"url":"u"`, `{"url":"u"}}`, "{\"url\":\"\xff\"}",
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		var got, want abi.EncodeResponse
		err, wantErr := readEncodeResponse(answer, &got), readObject(answer, &want)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("read %q: %v, want %v", answer, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("read %q: %+v, want %+v", answer, got, want)
		}
	})
}

// BenchmarkEncodeResponse reads the answer of an encode call: a question under
// the prompt that a workspace has.
func BenchmarkEncodeResponse(b *testing.B) {
	chat := `{"model":"m","stream":true,"messages":[{"role":"system","content":"` + strings.Repeat(`Answer from the documents.\n`, 35) + `"},{"role":"user","content":"hello"}]}`
	answer := []byte(`{"method":"POST","url":"http://127.0.0.1:8000/v1/chat/completions","headers":{"Accept":"text/event-stream","Authorization":"Bearer ${apiKey}","Content-Type":"application/json"},"body":` + chat + `}`)
	b.SetBytes(int64(len(answer)))
	b.ReportAllocs()
	for b.Loop() {
		var r abi.EncodeResponse
		if err := readEncodeResponse(answer, &r); err != nil {
			b.Fatal(err)
		}
	}
}
