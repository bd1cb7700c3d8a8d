package secret

import "regexp"

// ShortestShown is what [Obfuscate] shows of a short key: nothing of it.
const ShortestShown = "XXX..."

// Obfuscate shows enough of a key to know it again, by its length in
// characters. It returns an empty text for no key.
func Obfuscate(key Text) string {
	r := []rune(key.Reveal())
	switch n := len(r); {
	case n == 0:
		return ""
	case n < 10:
		return ShortestShown
	case n < 20:
		return string(r[:2]) + "XXXX..."
	case n < 30:
		return string(r[:3]) + "XXXXX..."
	default:
		return string(r[:5]) + "XXXXXX..."
	}
}

var obfuscated = regexp.MustCompile(`^(XXX|.{2}XXXX|.{3}XXXXX|.{5}XXXXXX)\.\.\.$`)

// IsObfuscated reports whether s looks like what [Obfuscate] returns. No real
// key does.
func IsObfuscated(s string) bool { return obfuscated.MatchString(s) }
