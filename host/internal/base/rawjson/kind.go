package rawjson

import "bytes"

// KindOf names the kind of a valid JSON value, for messages: "an object", "a
// number"; "nothing" where there is none.
func KindOf(v []byte) string {
	v = bytes.TrimSpace(v)
	if len(v) == 0 {
		return "nothing"
	}
	switch v[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// IsNull reports whether a value is null; one that is absent is not.
func IsNull(v []byte) bool { return string(bytes.TrimSpace(v)) == "null" }

// IsAbsent reports whether a value is absent or null, which most members of the
// API's objects take for the same.
func IsAbsent(v []byte) bool { return len(bytes.TrimSpace(v)) == 0 || IsNull(v) }
