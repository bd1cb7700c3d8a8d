package console

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMarkdownIsLinear draws long answers that a pattern which tries everything would
// be at for many minutes.
func TestMarkdownIsLinear(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	page, err := filepath.Abs("page")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, node, "testdata/markdown.mjs", page).CombinedOutput()
	if err != nil {
		t.Errorf("drawn before it ended with %v:\n%s", err, out)
	}
}
