package framing

import (
	"testing"

	"github.com/parley-search/parley/abi"
)

func TestJSONArray(t *testing.T) {
	checkFraming(t, Options{Framing: abi.FramingJSONArray}, []framingTest{
		{"empty", "[]", nil},
		{"nothing", "", nil},
		{"compact", `[{"a":1},{"b":[2,3]}]`, data(`{"a":1}`, `{"b":[2,3]}`)},
		{"pretty", "[{\n  \"a\": 1\n}\n,\r\n{\n  \"b\": 2\n}\n]\n", data("{\n  \"a\": 1\n}", "{\n  \"b\": 2\n}")},
		{"strings", `[{"a":"}]\"\\"},"x,\"]",{"b":"\\\""}]`, data(`{"a":"}]\"\\"}`, `"x,\"]"`, `{"b":"\\\""}`)},
		{"inner arrays", `[[1,[2]],[]]`, data(`[1,[2]]`, `[]`)},
		{"literals", "[1, null ,true\n, -2.5e3]", data("1", "null", "true", "-2.5e3")},
		{"mark", "\xef\xbb\xbf[{}]", data("{}")},
		{"object instead", "{\"error\": {\n}}\n", data("{\"error\": {\n}}")},
		{"not UTF-8", "[{\"a\":\"\xff\"}]", data("{\"a\":\"\uFFFD\"}")},
		{"space first", " \n [ 1 ] \n", data("1")},
	})
}

func TestJSONLines(t *testing.T) {
	checkFraming(t, Options{Framing: abi.FramingJSONLines}, []framingTest{
		{"lines", "{\"a\":1}\n{\"b\":2}\n", data(`{"a":1}`, `{"b":2}`)},
		{"CRLF and blank lines", "\r\n{\"a\":1}\r\n\r\n{\"b\":2}\r\n", data(`{"a":1}`, `{"b":2}`)},
		{"no line end", "{\"a\":1}\n{\"b\":2}", data(`{"a":1}`, `{"b":2}`)},
		{"one after the other", `{"a":1}{"b":2} [3]`, data(`{"a":1}`, `{"b":2}`, "[3]")},
		{"over lines", "{\n\"a\":\n1}\n{}", data("{\n\"a\":\n1}", "{}")},
		{"not JSON", "Internal Server Error \n{}\noops", []event{{abi.EventText, "Internal Server Error"}, {"", "{}"}, {abi.EventText, "oops"}}},
		{"literals", "1\n\"two\"\nnull\n", data("1", `"two"`, "null")},
		{"empty", "\n \n", nil},
	})
}
