package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// TestCompressedAnswers wants answers, short ones and errors too, packed as a
// client asks, and the stream of a chat never.
func TestCompressedAnswers(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	unpack := map[string]func([]byte) (io.Reader, error){
		"":        func(b []byte) (io.Reader, error) { return bytes.NewReader(b), nil },
		"gzip":    func(b []byte) (io.Reader, error) { return gzip.NewReader(bytes.NewReader(b)) },
		"deflate": func(b []byte) (io.Reader, error) { return zlib.NewReader(bytes.NewReader(b)) },
		"br":      func(b []byte) (io.Reader, error) { return brotli.NewReader(bytes.NewReader(b)), nil },
		"zstd": func(b []byte) (io.Reader, error) {
			d, err := zstd.NewReader(bytes.NewReader(b))
			return d, err
		},
	}
	for accept, want := range map[string]string{
		"":                       "",
		"identity":               "",
		"gzip":                   "gzip",
		"GZIP;q=0.5":             "gzip",
		"br":                     "br",
		"zstd":                   "zstd",
		"deflate":                "deflate",
		"deflate, br;q=0.9":      "deflate",
		"gzip, deflate, br":      "gzip",
		"gzip;q=0":               "",
		"gzip;q=0.5, identity":   "",
		"gzip;q=x":               "",
		"compress, sdch, x-gzip": "",
	} {
		for _, path := range []string{"/health", "/indexes/movies/documents", "/nowhere"} {
			plain := r.do("GET", path, "")
			got := r.do("GET", path, "", "Accept-Encoding", accept)
			if got.header.Get("Content-Encoding") != want || got.status != plain.status {
				t.Errorf("%s accepting %q: %d, encoding %q, want %q", path, accept, got.status, got.header.Get("Content-Encoding"), want)
				continue
			}
			u, err := unpack[want]([]byte(got.body))
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(u); err != nil || string(b) != plain.body {
				t.Errorf("%s accepting %q: %.200q, %v; want %.200q", path, accept, b, err, plain.body)
			}
		}
	}
	if got := r.do("POST", completions, hello, "Accept-Encoding", "gzip, br"); got.status != 200 || got.header.Get("Content-Encoding") == "gzip" {
		t.Errorf("a stream: %d, encoding %q", got.status, got.header.Get("Content-Encoding"))
	}
}
