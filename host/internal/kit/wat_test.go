package kit_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuestsInStep checks that each .wasm is what its .wat says.
func TestGuestsInStep(t *testing.T) {
	tool, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("wat2wasm (of wabt) is not on PATH")
	}
	texts, err := filepath.Glob("testdata/*.wat")
	if err != nil || len(texts) == 0 {
		t.Fatalf("no guests: %v", err)
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
