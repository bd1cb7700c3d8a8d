package plugin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// versionFile, at the root of a toolchain, names its version.
const versionFile = "VERSION"

// inputFiles is what `go list` prints of each package that goes into a plugin:
// its files with their folder; of the standard library only where it is.
const inputFiles = `{{if .Standard}}{{if eq .ImportPath "runtime"}}{{.Root}}/` + versionFile + `
{{end}}{{else}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .SFiles}}{{$d}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}
{{end}}{{end}}`

// hashInputs returns a hash of all that decides what Build of dir makes: the
// files of every package, the toolchain's version, the flags, the manifest.
func hashInputs(ctx context.Context, dir string, manifest []byte) (string, error) {
	list, err := goTool(ctx, dir, "list", "-deps", "-f", inputFiles, ".")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", buildFlags, manifest)
	for line := range strings.Lines(string(list)) {
		file := strings.TrimSpace(line)
		if file == "" {
			continue
		}
		if err := hashFile(h, file); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashFile adds name and content of file. The folder does not count: the same
// files elsewhere make the same module.
func hashFile(h io.Writer, file string) error {
	b, err := os.ReadFile(file)
	if err != nil && filepath.Base(file) != versionFile {
		return err // a toolchain built from a checkout has no version file
	}
	_, err = fmt.Fprintf(h, "%s %x\n", filepath.Base(file), sha256.Sum256(b))
	return err
}

// A stamp says what a built file was made from. It lies in a folder .stamps
// beside it.
type stamp struct{ file, built string }

func stampOf(built string) stamp {
	return stamp{filepath.Join(filepath.Dir(built), ".stamps", filepath.Base(built)), built}
}

// matches reports whether the built file is there, as it was made, from
// inputs.
func (s stamp) matches(inputs string) bool {
	said, err := os.ReadFile(s.file)
	if err != nil {
		return false
	}
	module, err := os.ReadFile(s.built)
	return err == nil && bytes.Equal(said, s.text(inputs, module))
}

func (s stamp) write(inputs string, module []byte) error {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o755); err != nil {
		return err
	}
	return replaceFile(s.file, s.text(inputs, module))
}

func (stamp) text(inputs string, module []byte) []byte {
	return fmt.Appendf(nil, "inputs %s\n%s", inputs, moduleLine(module))
}

// moduleLine ends a stamp.
func moduleLine(module []byte) string { return fmt.Sprintf("module %x\n", sha256.Sum256(module)) }

// ReadBuilt returns the module that [Build] left as file. An error says that there is none,
// or that it is not as it was built.
func ReadBuilt(file string) ([]byte, error) {
	module, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	said, err := os.ReadFile(stampOf(file).file)
	if err == nil && !strings.HasSuffix(string(said), moduleLine(module)) {
		err = fmt.Errorf("%s is not as it was built", file)
	}
	return module, err
}
