package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

// TestShippedPluginsCheck holds the shipped plugins to what `parley plugin
// check` asks of everybody's: two of them, with LONG=1 all.
func TestShippedPluginsCheck(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds and compiles every plugin")
	}
	names := []string{"openai", "extract"}
	if house.Long() {
		names = []string{"openai", "azureopenai", "mistral", "gemini", "vllm", "anthropic", "extract", "ollama", "cohere", "bedrock", "vertex"}
	}
	root := house.Repository(t)
	for _, name := range names {
		folders := []string{filepath.Join(root, "plugins", "provider", name, "testdata")}
		if _, err := os.Stat(folders[0]); err != nil {
			folders = nil
		}
		switch name {
		case "openai", "azureopenai", "vllm": // what their format has
			folders = append(folders, filepath.Join(root, "sdk", "openai", "testdata"))
		case "extract":
			folders = append(folders, "")
		}
		for _, cases := range folders {
			t.Run(name+" "+filepath.Base(filepath.Dir(cases)), func(t *testing.T) {
				o := trial.Options{CacheDir: house.CompiledModules(t), CallTimeout: time.Minute, Cases: cases}
				report, err := trial.Check(t.Context(), house.Shipped(t, name), o)
				if err != nil {
					t.Fatal(err)
				}
				if !report.Passed {
					var b strings.Builder
					_ = report.WriteTable(&b) // a Builder takes all
					t.Error(b.String())
				}
			})
		}
	}
}
