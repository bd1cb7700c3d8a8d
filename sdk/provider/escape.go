package provider

import "strings"

// EscapeURL writes s as one segment of a URL's path, or one value of its query:
// all but letters, digits and -_.~ is escaped, so that what a signature is made
// over is the same for all who make it. Package net/url is large for a guest, and
// leaves a colon in a path.
func EscapeURL(s string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(s)+8)
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}
