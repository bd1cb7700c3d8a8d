package lines

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestReader reads lines of all lengths around its buffer, in small parts, too.
func TestReader(t *testing.T) {
	long := strings.Repeat("long ", 40_000)
	for _, text := range []string{"", "\n", "a", "a\n", "a\n\nb\r\n" + long + "\n" + long, strings.Repeat("x", 64<<10) + "\ny\n"} {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			l, read := NewReader(r, 1<<20), ""
			for {
				line, err := l.Next()
				if err != nil {
					if err != io.EOF {
						t.Errorf("%.20q: %v", text, err)
					}
					break
				}
				if end := strings.IndexByte(string(line), '\n'); end >= 0 && end != len(line)-1 || len(line) == 0 {
					t.Errorf("%.20q: a line is %.20q", text, line)
				}
				read += string(line)
			}
			if read != text {
				t.Errorf("%.20q: %d bytes were read, want %d", text, len(read), len(text))
			}
		}
	}
}

// TestReaderEnds does not take what is left of an input that breaks off for a line, nor a line that
// is too long.
func TestReaderEnds(t *testing.T) {
	broken := errors.New("broken off")
	l := NewReader(io.MultiReader(strings.NewReader("whole\nha"), iotest.ErrReader(broken)), 10)
	if line, err := l.Next(); string(line) != "whole\n" || err != nil {
		t.Errorf("the first line is %q, %v", line, err)
	}
	if line, err := l.Next(); line != nil || !errors.Is(err, broken) {
		t.Errorf("behind it is %q, %v, want the error", line, err)
	}
	if _, err := NewReader(strings.NewReader("12345678901\n"), 10).Next(); err == nil || !strings.Contains(err.Error(), "more than 10 bytes") {
		t.Errorf("a long line: %v", err)
	}
}
