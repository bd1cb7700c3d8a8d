package cmdutil

import (
	"os"
	"runtime"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// CompileName is the hidden command that the host starts this program with to
// compile a plugin aside.
const CompileName = "compile-module"

// CompilerArgs returns this program as the one that compiles plugins aside, or nothing
// where it does not know its own path.
func CompilerArgs() []string {
	if runtime.GOOS == "linux" {
		// It stays this very program, also where its file is replaced.
		return []string{"/proc/self/exe", CompileName}
	}
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{path, CompileName}
}

// CompiledDir is where a command without options of the host keeps compiled code.
func CompiledDir() string {
	return host.PluginCacheDir(config.Config{PluginCacheDir: os.Getenv("PARLEY_PLUGIN_CACHE_DIR")})
}
