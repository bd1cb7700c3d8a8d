package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
)

// ManifestFile is the name of the manifest beside a plugin's main.go.
const ManifestFile = "manifest.json"

// maxCompilerOutput bounds what an error shows of what the toolchain printed.
const maxCompilerOutput = 4 << 10

// buildFlags and buildEnv make a reactor that is the same, byte for byte, wherever it
// is built. cmd/quickstart, which cannot import them, has them again.
var (
	buildFlags = []string{"-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w -buildid="}
	buildEnv   = []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWASM=", "GOEXPERIMENT="}
)

// Build compiles the Go plugin in dir with the local toolchain, puts
// dir/manifest.json into it, and leaves it in outDir as NAME-VERSION.wasm,
// whose path it returns. Where that file is up to date nothing is built: a
// stamp beside it holds the hash of all that went in. Progress gets lines for a
// person; it may be nil.
func Build(ctx context.Context, dir, outDir string, progress io.Writer) (file string, err error) {
	if progress == nil {
		progress = io.Discard
	}
	text, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		return "", fmt.Errorf("build plugin in %s: %w: want a folder such as `parley plugin new` makes", dir, err)
	}
	m, err := manifest.Parse(text)
	if err != nil {
		return "", fmt.Errorf("build plugin in %s: %s: %w", dir, ManifestFile, err)
	}
	for _, w := range ManifestWarnings(text) {
		fmt.Fprintf(progress, "warning: %s: %s\n", filepath.Join(dir, ManifestFile), w)
	}
	file = filepath.Join(outDir, m.Name+"-"+m.Version+".wasm")
	inputs, err := hashInputs(ctx, dir, text)
	if err != nil {
		return "", fmt.Errorf("build plugin %s: %w", m.Name, err)
	}
	stamp := stampOf(file)
	if stamp.matches(inputs) {
		fmt.Fprintf(progress, "plugin %s %s is up to date: %s\n", m.Name, m.Version, file)
		return file, nil
	}
	fmt.Fprintf(progress, "building plugin %s %s\n", m.Name, m.Version)
	began := time.Now()
	if err := os.MkdirAll(outDir, 0o755); err != nil {
		return "", fmt.Errorf("build plugin %s: %w", m.Name, err)
	}
	done := tellWhile(progress, m.Name+" "+m.Version)
	packed, err := compileGo(ctx, dir, text)
	done()
	if err != nil {
		return "", fmt.Errorf("build plugin %s: %w", m.Name, err)
	}
	if err := errors.Join(replaceFile(file, packed), stamp.write(inputs, packed)); err != nil {
		return "", fmt.Errorf("build plugin %s: %w", m.Name, err)
	}
	fmt.Fprintf(progress, "built plugin %s %s in %.1f s: %s (%.1f MiB)\n", m.Name, m.Version, time.Since(began).Seconds(), file, float64(len(packed))/(1<<20))
	return file, nil
}

// compileGo returns the module of the main package in dir, packed.
func compileGo(ctx context.Context, dir string, manifest []byte) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "parley-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "plugin.wasm")
	args := append([]string{"build"}, buildFlags...)
	if _, err := goTool(ctx, dir, append(args, "-o", out, ".")...); err != nil {
		return nil, err
	}
	module, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	if !abi.IsModule(module) {
		return nil, errors.New("the folder is not a main package, so there is nothing to run: it needs `package main` and `func main() {}`")
	}
	return Pack(module, manifest)
}

// goTool runs the go command for the guests' platform and returns what it
// printed. Settings of the user's own that would change what comes out are
// left aside.
func goTool(ctx context.Context, dir string, args ...string) ([]byte, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, errors.New("the go command is not on PATH: install Go 1.26 or later from go.dev/dl, or use a built module (--plugin-dir)")
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), buildEnv...)
	// An interrupt lets the go command stop its compilers; a kill would not.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		said := strings.TrimSpace(stderr.String())
		if len(said) > maxCompilerOutput {
			said = strings.ToValidUTF8(said[:maxCompilerOutput], "") + "\n…"
		}
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, said)
	}
	return stdout.Bytes(), nil
}

// replaceFile writes b to file such that file is never half written.
func replaceFile(file string, b []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".*.tmp")
	if err != nil {
		return err
	}
	_, err = tmp.Write(b)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
