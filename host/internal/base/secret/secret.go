// Package secret holds texts that must not be seen: passwords and API keys.
package secret

import (
	"fmt"
	"log/slog"
	"sync/atomic"
)

// Redacted is put in place of a secret wherever one would be seen.
const Redacted = "[redacted]"

// A Text is a text that must not be seen. It prints as [redacted] under
// every verb of fmt, in JSON and in logs; only [Text.Reveal] gives it out.
// The zero value holds none.
type Text struct {
	// A pointer, since fmt prints unexported fields of a struct that holds a
	// Text without asking its methods: it then shows an address.
	text *atomic.Pointer[string]
}

// New returns a Text that holds text, none where text is empty.
func New(text string) Text {
	if text == "" {
		return Text{}
	}
	s := Text{new(atomic.Pointer[string])}
	s.text.Store(&text)
	return s
}

// Replace makes text what s and all its copies hold. s holds one.
func (s Text) Replace(text string) { s.text.Store(&text) }

// Reveal returns the text, empty where there is none.
func (s Text) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text.Load()
}

// IsZero reports whether s holds no text.
func (s Text) IsZero() bool { return s.text == nil }

func (Text) String() string { return Redacted }

// Format implements [fmt.Formatter], so that no verb gets past String.
func (Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Redacted)) }

// MarshalText covers JSON, TOML and the rest.
func (Text) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// LogValue implements [slog.LogValuer].
func (Text) LogValue() slog.Value { return slog.StringValue(Redacted) }
