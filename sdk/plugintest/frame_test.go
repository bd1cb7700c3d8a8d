package plugintest

import (
	"reflect"
	"testing"

	"github.com/parley-search/parley/abi"
)

func TestFrame(t *testing.T) {
	type events []abi.Event
	e := func(typ, data string) abi.Event { return abi.Event{Type: typ, Data: []byte(data)} }
	tests := []struct {
		name, body string
		want       []abi.Event
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", events{e("", "a")}},
		{"no space, typed, comment", ": x\nevent: t\ndata:a\n\n", events{e("t", "a")}},
		{"two lines", "data: a\ndata:  b\n\n", events{e("", "a\n b")}},
		{"a type alone", "event: t\n\ndata: a\n\n", events{e("", "a")}},
		{"cut off", "data: a\n\ndata: b", events{e("", "a"), e("", "b")}},
		{"a mark in front", "\ufeffdata: a\n\n", events{e("", "a")}},
		{"a bare object among events", "data: a\n\n{\"error\":1}\n\n", events{e("", "a"), e("", `{"error":1}`)}},
		{"lines of JSON", "{\"a\":\"}\"}\n{\"b\":[{}]}\n", events{e("", `{"a":"}"}`), e("", `{"b":[{}]}`)}},
		{"an array", `[{"a":"\"]"},` + "\n" + `{"b":1}]`, events{e("", `{"a":"\"]"}`), e("", `{"b":1}`)}},
		{"JSON cut off", `{"a":1}{"b":`, events{e("", `{"a":1}`), e("", `{"b":`)}},
		{"a page", "<html>", events{e("", "<html>")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Frame([]byte(tt.body)); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Frame = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRechunk(t *testing.T) {
	body := []byte("data: a\n\nevent: t\ndata: b\ndata: c\n\ndata: é\n\n")
	want := Frame(body)
	for _, end := range []string{"\n", "\r", "\r\n"} {
		body := LineEnds(body, end)
		for i := range body {
			if got := Rechunk(body, i); !reflect.DeepEqual(got, want) {
				t.Fatalf("cut at %d with %q: %q, want %q", i, end, got, want)
			}
		}
	}
}
