package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/parley-search/parley/cmd/parley/internal/cli"
)

// An sdk is where a new plugin takes the SDK from.
type sdk struct {
	SDK      string // module path
	Go       string // version of Go that it needs
	Version  string // v0.0.0 with a checkout, which any version would do for
	Checkout string // absolute; empty for a version from the module proxy
}

// goVersion is what the SDK's go.mod asks for; a test compares.
const goVersion = "1.26.0"

var formRelease = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// findSDK returns the SDK that is wanted, a version or the folder of a
// checkout; for "" that which this program came with.
//
// A program that was installed by its version carries the checksum of its
// module. One that was built in a checkout carries the checkout's path, unless
// it was built with -trimpath: then the checkout around the working directory is
// taken, if there is one.
func findSDK(wanted string) (sdk, error) {
	s := sdk{SDK: modulePath, Go: goVersion, Version: "v0.0.0"}
	if formRelease.MatchString(wanted) {
		s.Version = wanted
		return s, nil
	}
	if wanted != "" {
		dir, err := filepath.Abs(wanted)
		if err != nil || !isCheckout(dir) {
			return s, cli.UsageError{Err: fmt.Errorf("--sdk %s is neither a version, such as v1.2.0, nor the folder of a checkout of %s", wanted, modulePath)}
		}
		s.Checkout = dir
		return s, nil
	}
	if version := installedVersion(); version != "" {
		s.Version = version
		return s, nil
	}
	_, file, _, _ := runtime.Caller(0)
	for _, dir := range []string{filepath.Dir(filepath.Dir(filepath.Dir(file))), findCheckout()} {
		if filepath.IsAbs(dir) && isCheckout(dir) {
			s.Checkout = dir
			return s, nil
		}
	}
	return s, cli.UsageError{Err: fmt.Errorf("this program was built from a checkout that is not here: say with --sdk where one is, or which version of %s to use", modulePath)}
}

// findCheckout returns the root of the checkout around the working directory, or "".
func findCheckout() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if isCheckout(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func isCheckout(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(b, []byte("module "+modulePath+"\n"))
}

// tidyModule has the go command fetch the SDK and note its checksums. A checkout
// needs neither.
func tidyModule(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the files are in %s, but the SDK was not fetched: `go mod tidy` there: %w\n%s", dir, err, strings.TrimSpace(string(out)))
	}
	return nil
}
