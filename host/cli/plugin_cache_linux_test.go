package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPluginCacheUnusable: a service that has no folder for compiled plugins, or none that
// it can write to, runs all of them, and says so.
func TestPluginCacheUnusable(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles modules")
	}
	t.Parallel()
	plugins := t.TempDir()
	buildProvider(t, "vllm", plugins)
	full := t.TempDir() // a small disk; its first argument is where
	_, mounts := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mountSmall, full, "true").CombinedOutput()
	for name, env := range map[string][]string{
		"home is no folder":   {"HOME=/dev/null", "XDG_CACHE_HOME="},
		"no home":             {"HOME=", "XDG_CACHE_HOME="},
		"no folder":           {"PARLEY_PLUGIN_CACHE_DIR=/dev/null"},
		"below a file":        {"PARLEY_PLUGIN_CACHE_DIR=/dev/null/compiled"},
		"the disk is full":    {"PARLEY_PLUGIN_CACHE_DIR=" + full},
		"no temporary folder": {"HOME=/dev/null", "XDG_CACHE_HOME=", "TMPDIR=/dev/null"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := []string{
				os.Args[0], "serve", "--http-addr", "127.0.0.1:0", "--experimental-logs-mode", "json", "--db-path", t.TempDir(),
				"--plugin-dir", plugins, "--plugin-lock=off", "--no-analytics",
			}
			if name == "the disk is full" {
				if mounts != nil {
					t.Skipf("no file system can be mounted here: %v", mounts)
				}
				command = append([]string{"unshare", "-m", "sh", "-c", mountSmall, full}, command...)
			}
			program := exec.CommandContext(t.Context(), command[0], command[1:]...)
			program.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "PARLEY_PLUGIN_CACHE_DIR=") }), append(env, reexec+"=parley")...)
			c := &life{t: t, cmd: program, http: &http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Minute}}
			log := &lockedText{}
			c.url = startServing(t, program, log)
			t.Cleanup(c.http.CloseIdleConnections)
			readyPlugins(t, c.url)
			var shown struct {
				Results  []struct{ Name, State, Error string }
				Problems []string
			}
			_, body := c.call("GET", "/plugins", "")
			if err := json.Unmarshal([]byte(body), &shown); err != nil {
				t.Fatal(err)
			}
			for _, p := range shown.Results {
				if p.State != "ready" {
					t.Errorf("plugin %s is %s: %s", p.Name, p.State, p.Error)
				}
			}
			told := len(shown.Problems) == 1 && strings.Contains(shown.Problems[0], "compiled plugins are not kept")
			if wanted := name != "no home"; len(shown.Results) == 0 || told != wanted { // then nobody wants them kept
				t.Errorf("GET /plugins shows %d plugins and %q, want some; told: %v", len(shown.Results), shown.Problems, wanted)
			}
		})
	}
}
