// Package lines reads lines that may be long. A [bufio.Scanner] looks through a line anew with
// each part of it that comes, which for one of a hundred megabytes takes minutes.
package lines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// A Reader reads lines. Make one with [NewReader].
type Reader struct {
	r    *bufio.Reader
	most int
	buf  []byte
}

// NewReader returns a reader of the lines of r, each of at most so many bytes.
func NewReader(r io.Reader, most int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), most: most}
}

// Next returns the next line with its end, which the last one need not have. It is good until the
// next call. The error is [io.EOF] behind the last line.
func (l *Reader) Next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if l.buf = append(l.buf, part...); len(l.buf) > l.most {
			return nil, fmt.Errorf("a line has more than %d bytes", l.most)
		}
		switch {
		case err == nil || err == io.EOF && len(l.buf) > 0:
			return l.buf, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // what is left of a line where the input breaks off is no line
		}
	}
}
