package transport

import (
	"errors"
	"strings"
	"testing"
)

const (
	get     = "GET /a HTTP/1.1\r\nHost: localhost\r\n"
	post    = "POST /b HTTP/1.1\r\nHost: localhost\r\n"
	chunked = post + "Transfer-Encoding: chunked\r\n\r\n"
)

// TestFraming gives each row whole and byte by byte. A bar is where the bytes go
// wrong: those before it pass.
func TestFraming(t *testing.T) {
	for _, tt := range []struct {
		wire string
		want Malformed // "" where all of it passes
	}{
		{get + "\r\n" + get + "\r\n", ""},
		{post + "Content-Length: 5\r\n\r\n\n\x00\r\n|" + get + "\r\n", ""},
		{post + "content-LENGTH:\t 5 \r\n\r\n\n\x00\r\nx" + "|\r\n", badEmptyLine},
		{post + "Content-Length: 0\r\n\r\n" + get + "\r\n|\n", badEmptyLine},
		{post + "Content-Lengthy: 5\r\nXContent-Length: 7\r\n\r\n" + get + "X|\n\r\n", badColon},
		{chunked + "2;a=\"\tb\"\r\n\x00\n\r\n10\r\n" + strings.Repeat("\n", 16) + "\r\n0\r\nContent-Length: x\r\n\r\n" + get + "\r\n", ""},
		{post + "Transfer-Encoding: CHUNKED \r\n\r\nA\r\n0123456789\r\n0\r\n\r\n|\r", badEmptyLine},
		{chunked + "2\r\n{}|0\r\n", badChunk},
		{chunked + "2\r\n{}\r|0\n", badChunk},
		{chunked + "2|\n{}\r\n", badSizeEnd},
		{chunked + "2;a|\n{}\r\n", badSizeEnd},
		{chunked + "2;a|\x7f\r\n", badExtension},
		{chunked + "2| ;a\r\n", badSize},
		{chunked + "|;a\r\n", badSize},
		{chunked + "000000000000000|0\r\n", badSize},
		{chunked + "0\r\nX: y|\n\r\n", badLineEnd},
		{chunked + "0\r\n|\n", badLineEnd},
		{chunked + "0\r\n\r|X", badReturn},
		{chunked + "0\r\n| X: y\r\n\r\n", badFold},
		{"|\x00", badLine},
		{"GET /a HTTP/1.1|\nHost: a\r\n\r\n", badLineEnd},
		{"GET /a\r|HTTP/1.1\r\n", badReturn},
		{"GET /a|\tHTTP/1.1\r\n", badLine},
		{get + "|: a\r\n", badName},
		{get + "a|(b: a\r\n", badName},
		{get + "a| : a\r\n", badSpace},
		{get + "a: b|\x00\r\n", badValue},
		{get + "a: b\r\n|\tc\r\n", badFold},
		{post + "Content-Length: 2|,2\r\n\r\n", badLength},
		{post + "Content-Length: 2 |2\r\n\r\n", badLength},
		{post + "Content-Length: |-2\r\n\r\n", badLength},
		{post + "Content-Length: \r|\n\r\n", badLength},
		{post + "Content-Length: 9223372036854775799\r\nContent-Length|: 1\r\n", badLengths},
		{post + "Content-Length: 922337203685477580|7\r\n", badLength},
		{post + "Transfer-Encoding: chunked|, chunked\r\n", badEncoding},
		{post + "Transfer-Encoding: chunke\r|\n", badEncoding},
		{post + "Transfer-Encoding: |identity\r\n", badEncoding},
		{post + "Transfer-Encoding: chunked\r\nTRANSFER-ENCODING|: chunked\r\n", badEncodings},
		{post + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r|\n", badBoth},
		{chunked + "1;" + strings.Repeat("a", maxExtension-1) + "\r\n \r\n1;" + "aaaa" + "|\r\n", badLong},
	} {
		before, after, _ := strings.Cut(tt.wire, "|")
		for _, size := range []int{1, 2, 3, 7, 1 << 20} {
			var f Framing
			passed, err := check(&f, []byte(before+after), size)
			if tt.want == "" && (err != nil || passed != len(before+after)) {
				t.Errorf("%q in parts of %d: %d bytes pass, %v", tt.wire, size, passed, err)
			}
			if bad, _ := errors.AsType[Malformed](err); bad != tt.want || tt.want != "" && passed != len(before) {
				t.Errorf("%q in parts of %d: after %d bytes %v, want %q after %d", tt.wire, size, passed, err, tt.want, len(before))
			}
			if n, again := f.Check([]byte(get)); err != nil && (n > 0 || again != err) {
				t.Errorf("%q: behind its end %d bytes pass, %v", tt.wire, n, again)
			}
		}
	}
}

// check gives wire to f in parts, and returns how many bytes passed.
func check(f *Framing, wire []byte, size int) (passed int, err error) {
	for len(wire) > 0 {
		part := wire[:min(size, len(wire))]
		n, err := f.Check(part)
		passed += n
		if err != nil {
			return passed, err
		}
		wire = wire[len(part):]
	}
	return passed, nil
}

// FuzzFraming wants the same of bytes however they come in.
func FuzzFraming(f *testing.F) {
	f.Add([]byte(chunked+"2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n"+get+"\r\n"), 5)
	f.Add([]byte(post+"Content-Length: 3\r\n\r\n\x00\r\n"+get+"\n"), 1)
	f.Fuzz(func(t *testing.T, wire []byte, size int) {
		var whole, parts Framing
		want, wantErr := whole.Check(wire)
		got, err := check(&parts, wire, 1+size&63)
		// The place where extensions are too long depends on what came at once.
		if wantErr == badLong && err == badLong {
			return
		}
		if got != want || err != wantErr || whole != parts {
			t.Errorf("whole: %d, %v; in parts: %d, %v", want, wantErr, got, err)
		}
	})
}

// BenchmarkFraming is a request as a browser sends it, with a body of 1 KiB, and
// of 1 MiB.
func BenchmarkFraming(b *testing.B) {
	head := "POST /chats/demo/chat/completions HTTP/1.1\r\nHost: search.example\r\nAuthorization: Bearer " + strings.Repeat("0a", 32) +
		"\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nAccept-Language: en-GB,en;q=0.8\r\nAccept-Encoding: gzip, deflate, br\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\nOrigin: https://search.example\r\n"
	for name, wire := range map[string]string{
		"KiB":    head + "Content-Length: 1024\r\n\r\n" + strings.Repeat("x", 1<<10),
		"MiB":    head + "Content-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20),
		"chunks": head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("400\r\n"+strings.Repeat("x", 1<<10)+"\r\n", 16) + "0\r\n\r\n",
	} {
		b.Run(name, func(b *testing.B) {
			all := []byte(wire)
			var f Framing
			b.ReportAllocs()
			for b.Loop() {
				if n, err := f.Check(all); n != len(all) || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}
