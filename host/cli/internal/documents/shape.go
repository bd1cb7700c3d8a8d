package documents

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// withinMember returns the part of a file of JSON that is the array of documents, where the file is an object
// that holds it, such as {"movies":[…]}; else the whole file. An object with an id, or with no array of objects
// or several, is a document itself.
func withinMember(f io.ReaderAt, size int64, primaryKey string) io.Reader {
	whole := io.NewSectionReader(f, 0, size)
	d := json.NewDecoder(bufio.NewReader(io.NewSectionReader(f, 0, size)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return whole
	}
	var from, to int64
	for d.More() {
		t, err := d.Token()
		name, _ := t.(string)
		if err != nil || name == primaryKey || strings.HasSuffix(strings.ToLower(name), "id") {
			return whole
		}
		begin, objects, err := skipValue(d)
		switch {
		case err != nil, objects && to > 0:
			return whole
		case objects:
			from, to = begin, d.InputOffset()
		}
	}
	if to == 0 {
		return whole
	}
	return io.NewSectionReader(f, from, to-from)
}

// skipValue skips a value, and says where an array begins and whether all in it are objects, at least one.
func skipValue(d *json.Decoder) (begin int64, objects bool, err error) {
	t, err := d.Token()
	if err != nil {
		return 0, false, err
	}
	begin = d.InputOffset() - 1
	objects = t == json.Delim('[') && d.More()
	for depth := depthOf(t); depth > 0; {
		if t, err = d.Token(); err != nil {
			return 0, false, err
		}
		if depth == 1 && t != json.Delim('{') && t != json.Delim(']') {
			objects = false
		}
		depth += depthOf(t)
	}
	return begin, objects, nil
}

// depthOf is what a token adds to how deep the next one stands.
func depthOf(t json.Token) int {
	switch t {
	case json.Delim('['), json.Delim('{'):
		return 1
	case json.Delim(']'), json.Delim('}'):
		return -1
	}
	return 0
}

// delimiterOf returns what stands between the columns of CSV by its first line: of comma, semicolon and tab what
// it has most of.
func delimiterOf(f io.ReaderAt, size int64) (byte, error) {
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, min(size, 64<<10))).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	best, most := byte(','), 0
	for _, c := range []byte(",;\t") {
		n, quoted := 0, false
		for i := range len(line) {
			switch line[i] {
			case '"':
				quoted = !quoted
			case c:
				if !quoted {
					n++
				}
			}
		}
		if n > most {
			best, most = c, n
		}
	}
	return best, nil
}
