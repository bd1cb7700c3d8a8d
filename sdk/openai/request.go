package openai

import (
	"strings"

	"github.com/parley-search/parley/sdk/rawjson"
)

// Path is where chat completions live under a base URL.
const Path = "/chat/completions"

// URL joins a base URL and [Path] with one slash. A base that ends with the
// path already stays as it is.
func URL(base string) string {
	base = strings.TrimRight(base, "/")
	if strings.HasSuffix(base, Path) {
		return base
	}
	return base + Path
}

// HasPath reports whether a base URL has a path beyond the slash.
func HasPath(base string) bool {
	scheme := strings.IndexByte(base, ':')
	if scheme < 0 || !strings.HasPrefix(base[scheme:], "://") {
		return false
	}
	rest := base[scheme+len("://"):]
	path := strings.IndexByte(rest, '/')
	return path >= 0 && strings.TrimRight(rest[path:], "/") != ""
}

// SystemAs returns messages with the role of system and developer messages
// made into role.
func SystemAs(role string, messages rawjson.Value) rawjson.Value {
	other := func(m rawjson.Value) bool {
		given := m.Get("role")
		return !given.Is(role) && isSystem(given)
	}
	if !anyOf(messages, other) {
		return messages
	}
	b := append(make([]byte, 0, len(messages)+64), '[')
	for it := messages.Items(); it.Next(); {
		if len(b) > 1 {
			b = append(b, ',')
		}
		if !other(it.Value) {
			b = append(b, it.Value...)
			continue
		}
		m := rawjson.EditOf(it.Value)
		m.Set("role", rawjson.Quote(role))
		b = append(b, m.Value()...)
	}
	return append(b, ']')
}

// SystemFirst returns messages with all system and developer messages as one
// system message in front, their texts with an empty line between: chat
// templates refuse a second one, or one elsewhere.
func SystemFirst(messages rawjson.Value) rawjson.Value {
	if one, _ := systemFirst(messages); one {
		return messages
	}
	joined, _ := joinSystem(messages)
	return joined
}

// joinSystem does it where they are not so already. turns is what [systemFirst] says of
// them then.
func joinSystem(messages rawjson.Value) (joined rawjson.Value, turns bool) {
	var system strings.Builder
	b := []byte(nil)
	turns = true
	var last rawjson.Value
	for it := messages.Items(); it.Next(); {
		role := it.Value.Get("role")
		if !isSystem(role) {
			b = append(append(b, ','), it.Value...)
			turns = turns && (string(role) != string(last) || role.Is("tool"))
			last = role
			continue
		}
		if text := ContentText(it.Value.Get("content")); text != "" {
			if system.Len() > 0 {
				system.WriteString("\n\n")
			}
			system.WriteString(text)
		}
	}
	out := append(make([]byte, 0, len(messages)+64), '[')
	if system.Len() > 0 {
		out = append(out, `{"role":"system","content":`...)
		out = append(rawjson.AppendString(out, system.String()), '}')
	} else if len(b) > 0 {
		b = b[1:]
	}
	return append(append(out, b...), ']'), turns
}

// systemFirst reports whether one message of the system is first, and no other, and
// whether no message has the role of the one before it, but for answers of tools.
func systemFirst(messages rawjson.Value) (one, turns bool) {
	it := messages.Items()
	if !it.Next() || !it.Value.Get("role").Is("system") {
		return false, false
	}
	if content := it.Value.Get("content"); content.Kind() != rawjson.String || len(content) == 2 {
		return false, false
	}
	turns = true
	var last rawjson.Value
	for it.Next() {
		role := it.Value.Get("role")
		if isSystem(role) {
			return false, false
		}
		turns = turns && (string(role) != string(last) || role.Is("tool"))
		last = role
	}
	return true, turns
}

func anyOf(messages rawjson.Value, is func(rawjson.Value) bool) bool {
	for it := messages.Items(); it.Next(); {
		if is(it.Value) {
			return true
		}
	}
	return false
}

func isSystem(role rawjson.Value) bool { return role.Is("system") || role.Is("developer") }

// ContentText returns the text of a message's content: a string, or the text
// parts of a list, joined.
func ContentText(content rawjson.Value) string {
	if content.Kind() == rawjson.String {
		return content.String()
	}
	var b strings.Builder
	for it := content.Items(); it.Next(); {
		b.WriteString(it.Value.Get("text").String())
	}
	return b.String()
}
