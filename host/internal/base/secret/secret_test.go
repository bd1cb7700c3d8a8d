package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/secret"
)

func TestSecretIsNotShown(t *testing.T) {
	const text = "sk-do-not-show"
	type holder struct {
		Shown  secret.Text
		hidden secret.Text
	}
	s := secret.New(text)
	h := holder{s, s}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+"\n", s)
		fmt.Fprintf(&out, verb+"\n", &s)
		fmt.Fprintf(&out, verb+"\n", h)
		fmt.Fprintf(&out, verb+"\n", &h)
		fmt.Fprintf(&out, verb+"\n", []any{s, h, map[string]secret.Text{"k": s}})
		fmt.Fprintf(&out, verb+"\n", struct{ APIKey secret.Text }{s})
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
	if h.hidden.Reveal() != text || !(secret.Text{}).IsZero() || s.IsZero() {
		t.Error("Reveal or IsZero is wrong")
	}
}
