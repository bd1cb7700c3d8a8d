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
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			o := trial.Options{CacheDir: house.CompiledModules(t), CallTimeout: time.Minute}
			cases := filepath.Join(house.Repository(t), "plugins", "provider", name, "testdata")
			if _, err := os.Stat(cases); err == nil {
				o.Cases = cases
			}
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
