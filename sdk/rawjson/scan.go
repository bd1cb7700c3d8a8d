package rawjson

import "bytes"

// MaxDepth is how deep a document may be nested.
const MaxDepth = 256

// Parse checks that b is one JSON value, with space around it allowed, and
// returns it as a part of b. Two things that RFC 8259 forbids are let through,
// because providers send them: control characters inside strings, and bytes
// that are not UTF-8. [Value.Clean] tells.
func Parse(b []byte) (Value, bool) {
	from := crossSpace(b, 0)
	to := crossValue(b, from)
	if to < 0 || crossSpace(b, to) != len(b) {
		return nil, false
	}
	return Value(b[from:to]), true
}

// The functions below take a document and where in it something begins, and
// return where that ends; those that check return -1 where it is not right. A
// guest is short and quick with an index, and neither with a slice of a slice.

// crossValue crosses the value at b[i].
//
// It is one loop in one function, and strings are crossed with IndexByte:
// in a Go guest each turn of a loop goes through a jump table, and each call
// is dearer than its work.
func crossValue(b []byte, i int) int {
	var closers [MaxDepth]byte // of the containers that are open
	depth := 0
	wantKey := false
	for {
		if i = crossSpace(b, i); i == len(b) {
			return -1
		}
		c := b[i]
		if wantKey && c != '"' {
			return -1
		}
		switch c {
		case '"':
			if i = checkString(b, i); i < 0 {
				return -1
			}
			if wantKey {
				if i = crossSpace(b, i); i == len(b) || b[i] != ':' {
					return -1
				}
				i++
				wantKey = false
				continue
			}
		case '{', '[':
			if depth == MaxDepth {
				return -1
			}
			closers[depth] = c + 2 // '}' is '{'+2, and ']' is '['+2
			depth++
			if i = crossSpace(b, i+1); i == len(b) || b[i] != c+2 {
				wantKey = c == '{'
				continue
			}
		default:
			if i = checkScalar(b, i); i < 0 {
				return -1
			}
		}
		// A value ends here, or its closing bracket comes.
		for {
			if depth == 0 {
				return i
			}
			if i = crossSpace(b, i); i == len(b) {
				return -1
			}
			closer := closers[depth-1]
			i++
			if b[i-1] == ',' {
				wantKey = closer == '}'
				break
			}
			if b[i-1] != closer {
				return -1
			}
			depth--
		}
	}
}

// checkString crosses the string whose opening quote is b[i].
func checkString(b []byte, i int) int {
	i++
	n := bytes.IndexByte(b[i:], '"')
	if n < 0 {
		return -1
	}
	if bytes.IndexByte(b[i:i+n], '\\') >= 0 {
		if n = EndOfString(b[i:]); n < 0 {
			return -1
		}
	}
	return i + n + 1
}

// checkScalar crosses a number, true, false or null.
func checkScalar(b []byte, i int) int {
	switch b[i] {
	case 'n':
		return checkWord(b, i, "null")
	case 't':
		return checkWord(b, i, "true")
	case 'f':
		return checkWord(b, i, "false")
	case '-':
		i++
	}
	from := i
	if i = checkDigits(b, i); i < 0 || b[from] == '0' && i > from+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = checkDigits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return checkDigits(b, i)
	}
	return i
}

func checkWord(b []byte, i int, word string) int {
	end := i + len(word)
	if end > len(b) || string(b[i:end]) != word {
		return -1
	}
	return end
}

// checkDigits crosses one digit or more.
func checkDigits(b []byte, i int) int {
	from := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// crossSpace crosses white space, if there is any.
func crossSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd crosses the string whose opening quote is b[i], which was checked.
func stringEnd(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		if b[i-2] != '\\' || countEscapes(b[:i-1])%2 == 0 {
			return i
		}
	}
}

// countEscapes counts the backslashes at the end of b.
func countEscapes(b []byte) (n int) {
	for len(b) > n && b[len(b)-1-n] == '\\' {
		n++
	}
	return n
}

// valueEnd crosses the value at b[i], which was checked: a container ends with
// the bracket that closes it, a number or a word before what cannot be in it.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			if i = stringEnd(b, i); depth == 0 {
				return i
			}
			continue
		case c|' ' == '{': // or '['
			depth++
		case c|' ' == '}': // or ']'
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c <= ' '):
			return i
		}
		i++
	}
	return i
}

// EndOfString returns where the closing quote of a string stands, given the
// bytes after its opening one; -1 where there is none or an escape is wrong.
func EndOfString(b []byte) int {
	// From quote to quote and from escape to escape: what lies between them is
	// crossed with IndexByte.
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		for i <= end {
			n := bytes.IndexByte(b[i:end], '\\')
			if n < 0 {
				return end
			}
			i += n
			if n = escapeLen(b[i:]); n < 0 {
				return -1
			}
			i += n
		}
	}
}

// escapeLen returns the length of the escape at the start of b, or -1.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return -1
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := readHex4(b[2:]); ok {
			return 6
		}
	}
	return -1
}
