package chat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat"
)

func TestSecretIsNotShown(t *testing.T) {
	const text = "sk-do-not-show"
	type holder struct {
		Shown  chat.Secret
		hidden chat.Secret
	}
	s := chat.NewSecret(text)
	h := holder{s, s}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+"\n", s)
		fmt.Fprintf(&out, verb+"\n", &s)
		fmt.Fprintf(&out, verb+"\n", h)
		fmt.Fprintf(&out, verb+"\n", &h)
		fmt.Fprintf(&out, verb+"\n", []any{s, h, map[string]chat.Secret{"k": s}})
		fmt.Fprintf(&out, verb+"\n", chat.Workspace{APIKey: s})
	}
	fmt.Fprintln(&out, errors.New(s.String()), fmt.Errorf("x: %v", h))
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "s", s, "h", h)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "s", s, "h", h)
	shown := out.String()
	hex := fmt.Sprintf("%x", text)
	if strings.Contains(shown, text) || strings.Contains(strings.ToLower(shown), hex) {
		t.Errorf("the secret is shown in:\n%s", shown)
	}
	if h.hidden.Reveal() != text || !(chat.Secret{}).IsZero() || s.IsZero() {
		t.Error("Reveal or IsZero is wrong")
	}
}
