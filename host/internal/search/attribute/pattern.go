package attribute

import (
	"strings"
)

// MatchPattern reports whether path is what pattern names, or below it.
func MatchPattern(pattern, path string) bool {
	begin, end := strings.HasPrefix(pattern, "*"), strings.HasSuffix(pattern, "*")
	if !begin && !end {
		return Covers(pattern, path)
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(pattern, "*"), "*")
	switch {
	case begin && end:
		return strings.Contains(path, inner)
	case end:
		return strings.HasPrefix(path, inner)
	}
	// What is below a match is a match, as with plain names.
	for {
		if strings.HasSuffix(path, inner) {
			return true
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return false
		}
		path = path[:i]
	}
}

// ContainsPattern reports whether all that inner can match is matched by outer.
// Where it can't be told from the two patterns alone it says no.
func ContainsPattern(outer, inner string) bool {
	switch {
	case outer == inner || outer == "*":
		return true
	case !strings.Contains(inner, "*"):
		return MatchPattern(outer, inner)
	case strings.HasPrefix(outer, "*") && strings.HasSuffix(outer, "*"):
		return strings.Contains(strings.Trim(inner, "*"), strings.Trim(outer, "*"))
	case strings.HasSuffix(outer, "*") && !strings.HasPrefix(inner, "*"):
		return strings.HasPrefix(strings.TrimSuffix(inner, "*"), strings.TrimSuffix(outer, "*"))
	}
	return false
}

// CutLast cuts s around the last sep.
func CutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
