package passage

import (
	"strings"
	"unicode/utf8"
)

// marks are what the groups of digits of a number are parted by, the fraction by the first two.
const marks = ".,'’\u00a0\u202f"

// Number returns the length of the digits, and of what parts them, that text begins with, and the number that
// they are in one form: "1,234.50", "1.234,50" and "1’234.5" are "1234.5". It is empty where they are no number, as
// in a date or a version.
func Number(text string) (n int, plain string) {
	var groups, between []string
	for {
		digits := 0
		for n+digits < len(text) && isDigit(text[n+digits]) {
			digits++
		}
		groups = append(groups, text[n:n+digits])
		n += digits
		if n == len(text) {
			break
		}
		r, size := utf8.DecodeRuneInString(text[n:])
		if !strings.ContainsRune(marks, r) || n+size == len(text) || !isDigit(text[n+size]) {
			break
		}
		between = append(between, text[n:n+size])
		n += size
	}
	fraction := ""
	switch last := len(between) - 1; {
	case last < 0:
		return n, groups[0]
	case areThousands(groups, between):
	case strings.Contains(marks[:2], between[last]) && (last == 0 || between[last] != between[0] && areThousands(groups[:last+1], between[:last])):
		fraction = strings.TrimRight(groups[last+1], "0")
		groups = groups[:last+1]
	default:
		return n, ""
	}
	if plain = strings.Join(groups, ""); fraction != "" {
		plain += "." + fraction
	}
	return n, plain
}

// areThousands reports whether groups are a whole number whose thousands are parted.
func areThousands(groups, between []string) bool {
	for i, g := range groups[1:] {
		if len(g) != 3 || between[i] != between[0] {
			return false
		}
	}
	return len(groups[0]) <= 3 && groups[0] != "0"
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// EachNumber calls f for each number of text that has more than one group of digits, in one form, see [Number].
func EachNumber(text string, f func(plain string, groups []string)) {
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		n, plain := Number(text[i:])
		whole := text[i : i+n]
		i += n
		if groups := strings.FieldsFunc(whole, func(r rune) bool { return r >= utf8.RuneSelf || !isDigit(byte(r)) }); plain != "" && len(groups) > 1 {
			f(plain, groups)
		}
	}
}
