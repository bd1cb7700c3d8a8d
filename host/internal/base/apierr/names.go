package apierr

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// maxShown bounds how much of what a client sent is shown to it again; a longer
// name is not looked for among the known ones.
const maxShown = 200

// Unknown is the [BadRequest] for a name that the API does not know: kind is
// "field" or "query parameter", at where it stands, known what could have
// stood there.
func Unknown(kind, at, name string, known []string) *Error {
	advice := "; there is none here"
	if near := Nearest(name, known); near != "" {
		advice = ": did you mean " + quote(near) + "?"
	} else if len(known) > 0 {
		quoted := make([]string, len(known))
		for i, k := range known {
			quoted[i] = quote(k)
		}
		advice = ": known are " + strings.Join(quoted, ", ") + "."
	}
	return Newf(BadRequest, "Unknown %s %s%s", kind, quote(at), advice)
}

// Nearest returns the known name that name was most likely meant to be: the
// one with the fewest letters wrong, left out, added or swapped, letter case
// aside. It returns "" where none is near.
func Nearest(name string, known []string) string {
	if len(name) > maxShown {
		return ""
	}
	best, nearest := 2+len(name)/3, ""
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < min(best, len(name)) {
			best, nearest = d, k
		}
	}
	return nearest
}

// distance is the number of edits from a to b: insert, delete, replace, or
// swap of neighbours.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// expected says in words what a field of type t takes.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "an integer, 0 or more"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "an integer"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	default:
		return "an object"
	}
}

// found says in words what the token of a value is.
func found(token json.Token) string {
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return "an object"
		}
		return "an array"
	case string:
		return "a string"
	case bool:
		return "true or false"
	default:
		return "the number " + shown(string(v.(json.Number)))
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func named(path string) string {
	if path == "" {
		return "The body"
	}
	return quote(path)
}

func quote(s string) string { return "`" + shown(s) + "`" }

// shown cuts s to what a message may repeat.
func shown(s string) string {
	if len(s) > maxShown {
		return strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return s
}

func itoa(i int) string { return strconv.Itoa(i) }
