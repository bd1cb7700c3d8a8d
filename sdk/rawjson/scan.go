package rawjson

import "bytes"

// MaxDepth is how deep a document may be nested.
const MaxDepth = 256

// Parse checks that b is one JSON value, with space around it allowed, and
// returns it as a part of b. Two things that RFC 8259 forbids are let through,
// because providers send them: control characters inside strings, and bytes
// that are not UTF-8. [Value.Clean] tells.
func Parse(b []byte) (Value, bool) {
	b = bytes.TrimLeft(b, " \t\r\n")
	b = bytes.TrimRight(b, " \t\r\n")
	n := check(b)
	if n <= 0 || n != len(b) {
		return nil, false
	}
	return Value(b), true
}

// check returns the length of the value at the start of b, or -1.
//
// It is one loop in one function, and strings are crossed with IndexByte:
// in a Go guest each turn of a loop goes through a jump table, and each call
// is dearer than its work.
func check(b []byte) int {
	var objects [MaxDepth / 64]uint64 // bit d: the container at depth d is an object
	depth := 0
	i := 0
	wantKey := false
	for {
		for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
			i++
		}
		if i == len(b) {
			return -1
		}
		c := b[i]
		if wantKey {
			if c != '"' {
				return -1
			}
			n := checkString(b[i:])
			if n < 0 {
				return -1
			}
			for i += n; i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r'); i++ {
			}
			if i == len(b) || b[i] != ':' {
				return -1
			}
			i++
			wantKey = false
			continue
		}
		switch c {
		case '"':
			n := checkString(b[i:])
			if n < 0 {
				return -1
			}
			i += n
		case '{', '[':
			if depth == MaxDepth {
				return -1
			}
			bit := uint64(1) << (depth % 64)
			objects[depth/64] &^= bit
			if c == '{' {
				objects[depth/64] |= bit
			}
			depth++
			rest := skipSpace(b[i+1:])
			i = len(b) - len(rest)
			if len(rest) > 0 && rest[0] == c+2 { // '}' is '{'+2, and ']' is '['+2
				break // the closing below takes it
			}
			wantKey = c == '{'
			continue
		default:
			n := checkScalar(b[i:])
			if n < 0 {
				return -1
			}
			i += n
		}
		// A value ends here, or its closing bracket comes.
		for {
			if depth == 0 {
				return i
			}
			for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
				i++
			}
			if i == len(b) {
				return -1
			}
			object := objects[(depth-1)/64]&(1<<((depth-1)%64)) != 0
			c := b[i]
			i++
			if c == ',' {
				wantKey = object
				break
			}
			if object && c != '}' || !object && c != ']' {
				return -1
			}
			depth--
		}
	}
}

// checkString returns the length of the string at the start of b with its
// quotes, or -1 where it does not end or has an escape that is none.
func checkString(b []byte) int {
	n := bytes.IndexByte(b[1:], '"')
	if n < 0 {
		return -1
	}
	if bytes.IndexByte(b[1:n+1], '\\') < 0 {
		return n + 2
	}
	if n = EndOfString(b[1:]); n < 0 {
		return -1
	}
	return n + 2
}

// checkScalar returns the length of the number, true, false or null at the
// start of b, or -1.
func checkScalar(b []byte) int {
	for _, word := range [...]string{"null", "true", "false"} {
		if len(b) >= len(word) && string(b[:len(word)]) == word {
			return len(word)
		}
	}
	i := 0
	if b[0] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if n := digits(b[i:]); n > 0 {
		i += n
	} else {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		n := digits(b[i+1:])
		if n == 0 {
			return -1
		}
		i += 1 + n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := digits(b[i:])
		if n == 0 {
			return -1
		}
		i += n
	}
	return i
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// stringEnd returns the length of the string at the start of b, which was
// checked.
func stringEnd(b []byte) int {
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		if b[i-2] != '\\' || escapes(b[:i-1])%2 == 0 {
			return i
		}
	}
}

// escapes counts the backslashes at the end of b.
func escapes(b []byte) (n int) {
	for len(b) > n && b[len(b)-1-n] == '\\' {
		n++
	}
	return n
}

// valueEnd returns the length of the value at the start of b, which was
// checked.
func valueEnd(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"':
		return stringEnd(b)
	case '{', '[':
		depth := 0
		for i := 0; i < len(b); i++ {
			switch b[i] {
			case '"':
				i += stringEnd(b[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(b)
	case 'n', 't':
		return 4
	case 'f':
		return 5
	}
	for i, c := range b {
		if c <= ' ' || c == ',' || c == '}' || c == ']' {
			return i
		}
	}
	return len(b)
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
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return -1
}
