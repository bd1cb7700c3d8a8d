package openai

import (
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
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
	_, rest, _ := strings.Cut(base, "://")
	_, path, _ := strings.Cut(rest, "/")
	return strings.Trim(path, "/") != ""
}

// Request returns the HTTP request that sends body to the base URL, with the
// workspace's key as a bearer token where there is one.
func Request(base string, s provider.Settings, body rawjson.Edit) provider.HTTPRequest {
	h := append(make([]provider.Header, 0, 5), provider.Header{Name: "Accept", Value: "text/event-stream"})
	if s.APIKey != "" {
		h = append(h, provider.Header{Name: "Authorization", Value: "Bearer " + s.APIKey})
	}
	h = append(h, provider.Header{Name: "Content-Type", Value: "application/json"})
	return provider.HTTPRequest{URL: URL(base), Headers: h, Body: body.Value(), Framing: abi.FramingAuto}
}

// What [Body] sets, made once.
var (
	yes       = rawjson.Value("true")
	withUsage = rawjson.Value(`{"include_usage":true}`)
)

// Body returns the body of a chat completion as the host gave it, made fit for
// any server of this shape: streamed, with usage asked for, and without members
// about tools where there are none, which many servers refuse.
func Body(chat rawjson.Value) rawjson.Edit {
	body := rawjson.EditOf(chat)
	body.Set("stream", yes)
	options := withUsage
	if given := rawjson.EditOf(body.Get("stream_options")); len(given) > 0 {
		given.Set("include_usage", yes)
		options = given.Value()
	}
	body.Set("stream_options", options)
	if body.Get("tools").Len() == 0 {
		body.Drop("tools", "tool_choice", "parallel_tool_calls")
	}
	return body
}

// SystemAs returns messages with the role of system and developer messages
// made into role.
func SystemAs(role string, messages rawjson.Value) rawjson.Value {
	other := func(m rawjson.Value) bool { return isSystem(m) && !m.Get("role").Is(role) }
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
	if oneSystemFirst(messages) {
		return messages
	}
	return joinSystem(messages)
}

// joinSystem does it where they are not so already.
func joinSystem(messages rawjson.Value) rawjson.Value {
	var system strings.Builder
	b := []byte(nil)
	for it := messages.Items(); it.Next(); {
		if !isSystem(it.Value) {
			b = append(append(b, ','), it.Value...)
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
	return append(append(out, b...), ']')
}

// oneSystemFirst reports whether messages are so already.
func oneSystemFirst(messages rawjson.Value) bool {
	it := messages.Items()
	if !it.Next() || !it.Value.Get("role").Is("system") {
		return false
	}
	if content := it.Value.Get("content"); content.Kind() != rawjson.String || len(content) == 2 {
		return false
	}
	for it.Next() {
		if isSystem(it.Value) {
			return false
		}
	}
	return true
}

func anyOf(messages rawjson.Value, is func(rawjson.Value) bool) bool {
	for it := messages.Items(); it.Next(); {
		if is(it.Value) {
			return true
		}
	}
	return false
}

func isSystem(message rawjson.Value) bool {
	role := message.Get("role")
	return role.Is("system") || role.Is("developer")
}

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
