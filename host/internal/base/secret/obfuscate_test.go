package secret_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/secret"
)

func TestObfuscate(t *testing.T) {
	for key, want := range map[string]string{
		"": "", "a": "XXX...", "123456789": "XXX...",
		"1234567890": "12XXXX...", strings.Repeat("x", 19): "xxXXXX...",
		strings.Repeat("x", 20): "xxxXXXXX...", strings.Repeat("x", 29): "xxxXXXXX...",
		strings.Repeat("x", 30): "xxxxxXXXXXX...",
		"äöüßéèêëñ":             "XXX...", "äöüßéèêëñç": "äöXXXX...", // characters, not bytes
	} {
		if got := secret.Obfuscate(secret.New(key)); got != want {
			t.Errorf("Obfuscate(%q) = %q, want %q", key, got, want)
		}
	}
}
