package console

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMarkdownIsLinear draws hundreds of long and broken texts and counts the steps that
// each takes, not the time: twice the text takes about twice the steps.
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
	out, err := exec.CommandContext(ctx, node, "testdata/markdown.mjs", page, "1").CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
