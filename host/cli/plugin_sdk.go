package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	parley "github.com/parley-search/parley"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// An sdk is where a new plugin takes the SDK from: a version from the module proxy, or
// a folder.
type sdk struct {
	SDK     string // module path
	Go      string // version of Go that it needs
	Version string // v0.0.0 with a folder, which any version would do for
	Dir     string // of go.mod's replace line; empty with a version
	copied  bool   // it is [sdkCopy], still to be written
}

// sdkCopy is the folder of a plugin that has the SDK of the program which wrote it. A
// clone of the plugin builds with it, without a network.
const sdkCopy = "parley-sdk"

// goVersion is what the SDK's go.mod asks for; a test compares.
const goVersion = "1.26.0"

var formRelease = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// findSDK returns the SDK that is wanted, a version or the folder of a checkout; for
// "" that which this program came with: its own version where it was installed by
// that, else a copy of what it carries.
func findSDK(wanted string) (sdk, error) {
	s := sdk{SDK: modulePath, Go: goVersion, Version: "v0.0.0"}
	if formRelease.MatchString(wanted) {
		s.Version = wanted
		return s, nil
	}
	if wanted != "" {
		dir, err := filepath.Abs(wanted)
		if err != nil || !isCheckout(dir) {
			return s, cmdutil.UsageError{Err: fmt.Errorf("--sdk %s is neither a version, such as v1.2.0, nor the folder of a checkout of %s", wanted, modulePath)}
		}
		s.Dir = dir
		return s, nil
	}
	if version := installedVersion(); version != "" {
		s.Version = version
		return s, nil
	}
	s.Dir, s.copied = "./"+sdkCopy, true
	return s, nil
}

// writeCopy writes the SDK below the folder of a plugin, as a module of its own.
func (s sdk) writeCopy(dir string) error {
	dir = filepath.Join(dir, sdkCopy)
	err := fs.WalkDir(parley.Sources, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		top, _, _ := strings.Cut(name, "/")
		if top != "abi" && top != "sdk" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		b, err := parley.Sources.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, b, 0o644))
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+s.SDK+"\n\ngo "+s.Go+"\n"), 0o644)
	}
	if err != nil {
		return fmt.Errorf("make plugin: %w", err)
	}
	return nil
}

func isCheckout(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(b, []byte("module "+modulePath+"\n"))
}

// tidyModule has the go command fetch the SDK and note its checksums. A folder needs
// neither.
func tidyModule(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the files are in %s, but the SDK was not fetched: `go mod tidy` there: %w\n%s", dir, err, strings.TrimSpace(string(out)))
	}
	return nil
}
