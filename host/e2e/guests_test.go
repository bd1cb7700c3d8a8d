package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuestsInStep checks that each .wasm below internal is what the .wat beside
// it says.
func TestGuestsInStep(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("wat2wasm is not on PATH: install Debian's package wabt")
	}
	var texts []string
	for _, room := range []string{"plugin", "plugin/*"} {
		found, err := filepath.Glob("../internal/" + room + "/testdata/*.wat")
		if err != nil || len(found) < 10 {
			t.Fatalf("%d guests of %s, %v: want those of all rooms", len(found), room, err)
		}
		texts = append(texts, found...)
	}
	for _, text := range texts {
		kept, err := os.ReadFile(strings.TrimSuffix(text, ".wat") + ".wasm")
		if err != nil {
			t.Error(err)
			continue
		}
		made, err := exec.CommandContext(t.Context(), tool, text, "--output=-").Output()
		if err != nil {
			t.Errorf("wat2wasm %s: %v", text, err)
			continue
		}
		if !bytes.Equal(made, kept) {
			t.Errorf("%s is out of step: run wat2wasm on it", text)
		}
	}
}
