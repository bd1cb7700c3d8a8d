package outbound

import (
	"slices"
	"strings"
)

// expand puts secrets in place of the placeholders in a header's value. What
// comes out of a secret is not looked at again. No error holds a secret.
func expand(header, value string, granted []string, secrets map[string]string) (string, error) {
	if !strings.Contains(value, "${") {
		return value, nil
	}
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(value, "${")
		b.WriteString(plain)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !isName(name) {
			return "", refused("the plugin set the header %.40q to a value with a \"${\" that begins no placeholder", header)
		}
		if !slices.Contains(granted, name) {
			return "", refused("the plugin put ${%.40s} in the header %.40q; its grants name no such secret", name, header)
		}
		secret := secrets[name]
		if secret == "" {
			return "", refused("the plugin put ${%.40s} in the header %.40q, but the workspace has no %.40s; set one", name, header, name)
		}
		if !isFieldValue(secret) {
			return "", refused("the workspace's %.40s holds a line end or another control character, which no header can carry; set it again", name)
		}
		b.WriteString(secret)
		value = after
	}
}

// isPlaceholder reports whether all of s is one placeholder.
func isPlaceholder(s string) bool {
	name, ok := strings.CutPrefix(s, "${")
	if !ok {
		return false
	}
	name, ok = strings.CutSuffix(name, "}")
	return ok && isName(name)
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9' || i == 0) {
			return false
		}
	}
	return s != ""
}
