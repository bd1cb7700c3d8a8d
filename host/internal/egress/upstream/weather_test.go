package upstream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/outbound"
)

func TestWeather(t *testing.T) {
	long := strings.Repeat("y", 2<<20)
	tests := []struct {
		name   string
		answer string
		want   []event
		kind   outbound.ErrorKind // of the error at the end, if any
		text   string
	}{
		{"good, chunked", chunked + chunk("data: a\n\n") + chunk("data: [DONE]\n\n") + "0\r\n\r\n", data("a", "[DONE]"), "", ""},
		{"no DONE", toEnd + "data: a\n\ndata: b\n\n", data("a", "b"), "", ""},
		{"no blank line at the end", toEnd + "data: a\n\ndata: b", data("a", "b"), "", ""},
		{"CR", toEnd + "data: a\r\rdata: b\rdata: c\r\r", data("a", "b\nc"), "", ""},
		{"split inside everything", chunked + chunk("da") + chunk("ta: \xe2\x82") + chunk("\xac\r") + chunk("\n\r\n") + "0\r\n\r\n", data("€"), "", ""},
		{"not UTF-8", toEnd + "data: {\"a\":\"\xff\xfe\"}\n\n", data("{\"a\":\"\uFFFD\uFFFD\"}"), "", ""},
		{"megabyte line", toEnd + "data: " + long + "\n\ndata: a\n\n", data(long, "a"), "", ""},
		{"line over the bound", toEnd + "data: a\n\ndata: " + long + long + "\n\n", data("a"), outbound.TooLong, "one event"},
		{"answer over the bound", toEnd + strings.Repeat("data: "+long+"\n\n", 5), data(long, long, long), outbound.TooLong, "8388608 bytes"},
		{"dies inside a chunk", chunked + chunk("data: a\n\n") + "20\r\ndata: {\"hal", data("a"), outbound.Broken, "broke off"},
		{"dies between chunks", chunked + chunk("data: a\n\ndata: b\n"), data("a"), outbound.Broken, "broke off"},
		{"dies inside a length", head + "Content-Length: 100\r\n\r\ndata: a\n\ndata: b", data("a"), outbound.Broken, "broke off"},
		{"no chunk where one should be", chunked + chunk("data: a\n\n") + "zzz\r\n", data("a"), outbound.Broken, "broke off"},
		{"dies in the head", "HTTP/1.1 200 OK\r\nContent-Ty", nil, outbound.Broken, "was not reached"},
		{"says nothing", "", nil, outbound.Broken, "was not reached"},
		{"no HTTP", "SSH-2.0-OpenSSH_9.6\r\n", nil, outbound.Broken, "was not reached"},
		{"head over the bound", head + "X: " + strings.Repeat("x", 70<<10) + "\r\n\r\n", nil, outbound.TooLong, "head"},
		{"HTML", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>sign in</html>", nil, outbound.Broken, "HTML"},
		{"HTML as a stream", toEnd + "\n<!DOCTYPE html>", nil, outbound.Broken, "HTML"},
		{"error in the stream", toEnd + "data: a\n\n{\n \"error\": 1\n}\n", data("a", "{\n \"error\": 1\n}"), "", ""},
		{"JSON instead", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"error\":\n1}", data("{\"error\":\n1}"), "", ""},
		{"array cut off", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[{\"a\":1},{", data(`{"a":1}`), outbound.Broken, "middle of a JSON value"},
		{"empty", toEnd, nil, "", ""},
		{"brotli", head + "Content-Encoding: br\r\n\r\nxx", nil, outbound.Broken, `encoded as "br"`},
		{"no gzip", head + "Content-Encoding: gzip\r\n\r\ndata: a\n\n", nil, outbound.Broken, "broke off"},
		{"switches protocols", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", nil, outbound.Broken, "101"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := say(t, tt.answer)
			c := client(t, Options{Limits: Limits{MaxEvent: 3 << 20, MaxResponse: 8 << 20}})
			got, err := get(t, c, to(l.url))
			if len(got) != len(tt.want) {
				t.Fatalf("%d events, error %v; want %d events", len(got), err, len(tt.want))
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("event %d = %.80q, want %.80q", i, got[i], tt.want[i])
				}
			}
			if tt.kind != "" {
				wantError(t, err, tt.kind, tt.text, false)
			} else if err != nil {
				t.Errorf("error %v, want none", err)
			}
			// But that of the URL.
			if strings.Contains(strings.ReplaceAll(fmt.Sprint(err), strings.TrimPrefix(l.url, "http://"), ""), "127.0.0.1:") {
				t.Errorf("error %v names an address", err)
			}
		})
	}
}
