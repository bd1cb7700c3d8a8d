package framing

import (
	"testing"

	"github.com/parley-search/parley/abi"
)

func TestSSE(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	checkFraming(t, Options{Framing: abi.FramingSSE}, []framingTest{
		{"one", "data: a\n\n", data("a")},
		{"several", "data: a\n\ndata: b\n\ndata: c\n\n", data("a", "b", "c")},
		{"done passes", "data: {}\n\ndata: [DONE]\n\n", data("{}", "[DONE]")},
		{"CRLF", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", data("a\nb", "c")},
		{"CR", "data: a\rdata: b\r\rdata: c\r\r", data("a\nb", "c")},
		{"mixed ends", "data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\r", data("a\nb\nc", "d")},
		{"LF CR is two ends", "data: a\n\rdata: b\n\n", data("a", "b")},
		{"lines join", "data: a\ndata:b\ndata\ndata:  c\n\n", data("a\nb\n\n c")},
		{"one space goes", "data:  a\n\ndata:\tb\n\ndata:c\n\n", data(" a", "\tb", "c")},
		{"empty data is an event", "data:\n\ndata\n\ndata: \n\n", data("", "", "")},
		{"two empty lines of data", "data\ndata\n\n", data("\n")},
		{"no data, no event", "event: x\n\nid: 1\n\nretry: 10\n\n: y\n\ndata: a\n\n", data("a")},
		{"type", "event: ping\ndata: a\n\ndata: b\n\n", []event{{"ping", "a"}, {"", "b"}}},
		{"type after data", "data: a\nevent: t\n\n", []event{{"t", "a"}}},
		{"last type counts", "event: s\nevent: t\ndata: a\n\n", []event{{"t", "a"}}},
		{"type reset by a blank line", "event: s\n\ndata: a\n\n", data("a")},
		{"empty type", "event: s\nevent:\ndata: a\n\n", data("a")},
		{"comments", ": hi\n:\ndata: a\n: between\ndata: b\n\n:data: c\n\n", data("a\nb")},
		{"fields ignored", "id: 7\nretry: 3000\nfoo: bar\nfoo\nDATA: x\n data: y\ndata: a\n\n", data("a")},
		{"colon in value", "data:a:b\n\ndata::c\n\n", data("a:b", ":c")},
		{"mark", mark + "data: a\n\n", data("a")},
		{"only one mark", mark + mark + "data: a\n\ndata: b\n\n", data("b")},
		{"mark later", "data: a\n\n" + mark + "data: b\n\n", data("a")},
		{"NUL", "data: a\x00b\n\nid: \x00\ndata: c\n\n", data("a\x00b", "c")},
		{"NUL first", "\x00\n\ndata: a\n\n", data("a")},
		{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", data("a")},
		{"not UTF-8", "data: a\xffb\xe2\x82\ndata: \xf0\x9f\x98\n\ndata: é\n\n", data("a\uFFFDb\uFFFD\n\uFFFD", "é")},
		{"type not UTF-8", "event: a\xff\ndata: b\n\n", []event{{"a\uFFFD", "b"}}},
		{"empty", "", nil},

		// The liberties.
		{"no blank line at the end", "data: a\n\nevent: t\ndata: b\n", []event{{"", "a"}, {"t", "b"}}},
		{"no line end at the end", "data: a\n\ndata: b", data("a", "b")},
		{"half a field at the end", "data: a\n\nevent: x\nda", data("a")},
		{"leading space", " data: a\n\ndata: b\n\n", data("a", "b")},
		{"bare JSON", "data: a\n\n{\"error\":1}\n\ndata: b\n\n", data("a", `{"error":1}`, "b")},
		{"bare JSON first", "{\"error\":1}\n", data(`{"error":1}`)},
		{"bare JSON over lines", "data: a\n\n{\n  \"error\": {\n    \"m\": \"}\\\"{\"\n  }\n}\n", data("a", "{\n  \"error\": {\n    \"m\": \"}\\\"{\"\n  }\n}")},
		{"bare JSON over CRLF lines", "{\r\n\"a\": [1,\r\n2]\r\n}\r\n\r\ndata: b\r\n\r\n", data("{\n\"a\": [1,\n2]\n}", "b")},
		{"bare JSON after data", "data: a\n{\"b\":1}\n\n", data("a", `{"b":1}`)},
		{"bare JSON with type", "event: error\n{\"b\":1}\n\n", []event{{"error", `{"b":1}`}}},
		{"bare JSON without a line end", "data: a\n\n{\"b\":{}}", data("a", `{"b":{}}`)},
		{"bare JSON with text after", "{\"b\":1} x\n\n", data(`{"b":1}`)},
		{"a field called error", "data: a\n\nerror: {\"code\":500}\n\ndata: b\n\n", []event{{"", "a"}, {"error", `{"code":500}`}, {"", "b"}}},
		{"bare brace swallows nothing", "{ nothing\ndata: a\n\n{\n: c\ndata: b\n\n", data("a", "b")},
		{"bare quote goes not over a line", "{ \"x\nfoo\n}\n\ndata: a\n\n", data("a")},
		{"bare JSON cut off", "data: a\n\n{\"error\":\n", data("a")},
		{"other bare text", "data: a\n\nInternal Server Error\n\n", data("a")},
	})
}
