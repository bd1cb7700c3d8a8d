package chat

import (
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// A Secret is a text that must not be seen. It prints as [redacted] under
// every verb of fmt, in JSON and in logs; only [Secret.Reveal] gives it out.
// The zero value holds none.
type Secret struct {
	// A pointer, since fmt prints unexported fields of a struct that holds a
	// Secret without asking its methods: it then shows an address.
	text *string
}

// NewSecret returns a Secret that holds text, none where text is empty.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text, empty where there is none.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether s holds no text.
func (s Secret) IsZero() bool { return s.text == nil }

func (Secret) String() string { return redacted }

// Format implements [fmt.Formatter], so that no verb gets past String.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText covers JSON, TOML and the rest.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
