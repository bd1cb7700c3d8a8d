package main

import (
	"os"
	"runtime"

	"github.com/parley-search/parley/host"
)

// compileName is the hidden command that the host starts this program with to
// compile a plugin aside.
const compileName = "compile-module"

// compilerArgs returns this program as the one that compiles plugins aside, or nothing
// where it does not know its own path.
func compilerArgs() []string {
	if runtime.GOOS == "linux" {
		// It stays this very program, also where its file is replaced.
		return []string{"/proc/self/exe", compileName}
	}
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{path, compileName}
}

// compiledDir is where a command without options of the host keeps compiled code.
func compiledDir() string {
	return host.PluginCacheDir(host.Config{PluginCacheDir: os.Getenv("PARLEY_PLUGIN_CACHE_DIR")})
}
