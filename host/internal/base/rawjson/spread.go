package rawjson

// What the parts of a document take in memory, in bytes: a map of the members of each
// object, a slice of the items of each array, and what they are made of again.
const (
	bracketSize = 96
	memberSize  = 256
	itemSize    = 64
)

// Spread estimates the memory that a document takes beside its bytes once it is taken
// apart into maps and slices: up to a hundred times of it, where its values are short.
// b need not be checked.
func Spread(b []byte) (n int64) {
	inside := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\\' && inside:
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{', c == '[':
			n += bracketSize
		case c == ':':
			n += memberSize
		case c == ',':
			n += itemSize
		}
	}
	return n
}
