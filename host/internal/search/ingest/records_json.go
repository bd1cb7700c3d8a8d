package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// jsonRecords reads the elements of one array, or the one object that a body
// is. What is not JSON is said with its place.
type jsonRecords struct {
	r            *bufio.Reader
	n            int
	line, column int // of the next byte
	state        jsonState
	buf          []byte
}

type jsonState uint8

const (
	atStart jsonState = iota
	atFirst           // behind "["
	atNext            // behind an element
	atComma           // behind a comma
	atEnd             // behind the array or the object
)

func (j *jsonRecords) Next() (Record, error) {
	for {
		c, err := j.peek()
		if err != nil {
			return Record{}, j.ended(err)
		}
		switch {
		case j.state == atEnd:
			return Record{}, j.unexpected(c, "after the end of the documents")
		case j.state == atStart && c == '{':
			j.state = atEnd
			return j.element()
		case j.state == atStart && c == '[':
			j.state = atFirst
		case j.state == atStart:
			return Record{}, j.neither()
		case c == ']' && j.state != atComma:
			j.state = atEnd
		case j.state == atNext && c == ',':
			j.state = atComma
		case j.state == atNext:
			return Record{}, j.unexpected(c, "after array element")
		default:
			j.state = atNext
			return j.element()
		}
		j.skip(1)
	}
}

// peek returns the next byte that is no space.
func (j *jsonRecords) peek() (byte, error) {
	for {
		b, err := j.r.Peek(1)
		if err != nil {
			return 0, err
		}
		if !rawjson.IsSpace(b[0]) {
			return b[0], nil
		}
		j.skip(1)
	}
}

func (j *jsonRecords) skip(n int) {
	b, _ := j.r.Peek(n)
	j.line, j.column = behind(b, j.line, j.column)
	_, _ = j.r.Discard(n)
}

// ended says whether a body may end here.
func (j *jsonRecords) ended(err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	switch j.state {
	case atEnd:
		return io.EOF
	case atStart:
		return apierr.Newf(apierr.MissingPayload, "The body is empty; expected a JSON array of documents.")
	}
	return notJSON(errors.New("unexpected end of JSON input"), nil, j.line, j.column)
}

func (j *jsonRecords) unexpected(c byte, where string) error {
	return apierr.Newf(apierr.MalformedPayload, "The body is not JSON: invalid character %q %s, at line %d, column %d.", c, where, j.line, j.column)
}

// neither says what a body is that is no array and no object.
func (j *jsonRecords) neither() error {
	line, column := j.line, j.column
	v, err := j.value()
	if err != nil {
		return err
	}
	if err := checkRecord(v, line, column); err != nil {
		return err
	}
	return apierr.Newf(apierr.MalformedPayload, "The body is %s; expected an array of documents, or one document.", rawjson.KindOf(v))
}

func (j *jsonRecords) element() (Record, error) {
	line, column := j.line, j.column
	v, err := j.value()
	if err != nil {
		return Record{}, err
	}
	j.n++
	return Record{j.n, line, v}, checkRecord(v, line, column)
}

// value reads one value, without a look at whether it is one.
func (j *jsonRecords) value() ([]byte, error) {
	j.buf = j.buf[:0]
	var s valueScan
	for {
		b, err := j.r.Peek(max(j.r.Buffered(), 1))
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil // what is wrong with it, or not, is said by whoever parses it
			}
			return j.buf, err
		}
		n, whole := s.scan(b)
		j.line, j.column = behind(b[:n], j.line, j.column)
		j.buf = append(j.buf, b[:n]...)
		_, _ = j.r.Discard(n)
		if whole {
			return j.buf, nil
		}
	}
}

// A valueScan finds the end of one value that comes in parts.
type valueScan struct {
	depth   int
	text    bool // in a string
	escaped bool // behind a backslash in it
	scalar  bool // in a number or word outside all brackets
}

// scan returns how many bytes of b belong to the value, and whether it ends
// there.
func (s *valueScan) scan(b []byte) (n int, whole bool) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if s.text {
			switch {
			case s.escaped:
				s.escaped = false
			case c == '\\':
				s.escaped = true
			case c == '"':
				if s.text = false; s.depth == 0 {
					return i + 1, true
				}
			default:
				// Most of a body is text: look for its end at once.
				if j := bytes.IndexAny(b[i:], `"\`); j > 0 {
					i += j - 1
				} else if j < 0 {
					return len(b), false
				}
			}
			continue
		}
		if s.scalar && (c == ',' || c == ']' || c == '}' || rawjson.IsSpace(c)) {
			return i, true
		}
		switch c {
		case '"':
			if s.scalar {
				return i, true
			}
			s.text = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth <= 0 {
				return i + 1, true
			}
		default:
			s.scalar = s.depth == 0
		}
	}
	return len(b), false
}
