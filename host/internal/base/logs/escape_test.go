package logs

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// TestHostileTexts logs what a plugin may say to forge lines or to change a terminal.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"one\nINF forged", "one\r\nINF forged", "back\r over", "\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\link", "nul\x00", "bell\x07", "\x7f\x08",
		"c1 \u009b31m \u0085 next", "\u202etxt.exe", "\u2028 line", "\u2066 isolate", "\ufeff", "\U000e0041 tag", "\xff\xfe",
	} {
		var human, streamed, raw bytes.Buffer
		h, err := New(&human, Human, "info")
		if err != nil {
			t.Fatal(err)
		}
		for mode, out := range map[string]*bytes.Buffer{Human: &streamed, JSON: &raw} {
			if _, err := h.Watch("info", mode, func(line []byte) { out.Write(line) }); err != nil {
				t.Fatal(err)
			}
		}
		log := h.Logger()
		log.Info().Str("field", text).Strs("fields", []string{text}).Str("name "+text, "x").Interface("any", map[string]string{text: text}).AnErr("error", errText(text)).Msg(text)
		for what, out := range map[string]string{"human": human.String(), "streamed": streamed.String(), "JSON": raw.String()} {
			line, rest, _ := strings.Cut(out, "\n")
			if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || rest != "" || line == "" {
				t.Errorf("%s of %q = %q, want one line of characters that are printed", what, text, out)
			}
		}
		var line struct{ Message, Field string }
		if err := json.Unmarshal(raw.Bytes(), &line); err != nil || line.Message != strings.ToValidUTF8(text, "\ufffd") && !strings.Contains(text, "\xff") || line.Field != line.Message {
			t.Errorf("JSON of %q = %s, %v", text, raw.String(), err)
		}
	}
	if got, want := Escape("Grüße, 世界 👋 \\ \"x\""), "Grüße, 世界 👋 \\ \"x\""; got != want {
		t.Errorf("escape = %q, want %q", got, want)
	}
}

type errText string

func (e errText) Error() string { return string(e) }
