package cli

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// scaffold holds a template for each file of a new plugin: go.mod and a workflow of all, and a
// folder a kind.
//
//go:embed all:scaffold
var scaffold embed.FS

// A draft is what the templates are filled with.
type draft struct {
	Name   string // of the plugin
	Metric string // the first segment of a collector's metrics
	Module string // path of its Go module
	ABI    int
	sdk
}

var (
	formPluginName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	formModulePath = regexp.MustCompile(`^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$`)
)

func pluginNewCommand() *cobra.Command {
	var dir, module, lang, wanted string
	cmd := &cobra.Command{
		Use:   "new provider|collector|guard NAME",
		Short: "Start a plugin: files that build, pass their test and answer",
		Long: "Write the files of a new plugin in Go into a new folder: manifest, code, a test that needs no Wasm,\n" +
			"cases, README, a workflow for GitHub. They build, pass their test and run as they are.\n\n" +
			"The SDK is the module " + modulePath + ": in the version of this program where it was installed by its\n" +
			"version, else a copy of what this program carries, in the plugin's folder " + sdkCopy + ". --sdk names another\n" +
			"version or a checkout. For other languages copy from examples/.",
		Example: "  parley plugin new provider echo\n" +
			"  parley plugin new collector slow-searches --dir collectors/slow-searches\n" +
			"  parley plugin new guard codenames",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name := args[0], args[1]
			switch {
			case kind != abi.KindProvider && kind != abi.KindCollector && kind != abi.KindGuard:
				return cmdutil.UsageError{Err: fmt.Errorf("%q is not a kind of plugin: say provider, collector or guard", kind)}
			case !formPluginName.MatchString(name):
				return cmdutil.UsageError{Err: fmt.Errorf("%q is not a plugin name: it has 1 to 64 of a-z, 0-9 and -, a letter first", name)}
			case module != "" && !formModulePath.MatchString(module):
				return cmdutil.UsageError{Err: fmt.Errorf("--module %q is not the path of a Go module: it has a-z, A-Z, 0-9, -, ., _ and ~ between slashes, such as example.com/%s", module, name)}
			case lang != "go":
				return cmdutil.UsageError{Err: fmt.Errorf("--lang %s: there are files to write for go; for C, AssemblyScript and Rust copy examples/provider-c and its neighbours", lang)}
			}
			if dir == "" {
				dir = name
			}
			if module == "" {
				module = "example.com/" + name
			}
			s, err := findSDK(wanted)
			if err != nil {
				return err
			}
			d := draft{Name: name, Metric: strings.ReplaceAll(name, "-", "_"), Module: module, ABI: abi.Version, sdk: s}
			if err := d.write(kind, dir); err != nil {
				return err
			}
			switch {
			case s.copied:
				err = s.writeCopy(dir)
			case s.Dir == "":
				err = tidyModule(cmd.Context(), dir)
			}
			if err != nil {
				return err
			}
			made := map[string]string{"name": name, "kind": kind, "dir": dir, "module": module}
			return cmdutil.PrintResult(cmd, made, func(out io.Writer) error { return d.next(out, kind, dir) })
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write to (default NAME)")
	cmd.Flags().StringVar(&module, "module", "", "path of the Go module (default example.com/NAME)")
	cmd.Flags().StringVar(&wanted, "sdk", "", "version of the SDK, such as v1.2.0, or the folder of a checkout (default as above)")
	cmd.Flags().StringVar(&lang, "lang", "go", "language")
	return cmdutil.JSONFlag(cmd)
}

// write writes the files of a plugin of kind. The folder must be empty or not
// there: nothing of anybody's is written over.
func (d draft) write(kind, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make plugin: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("make plugin: the folder %s holds files already: name another with --dir", dir)
	}
	files := map[string]string{"scaffold/go.mod.tmpl": "go.mod", "scaffold/plugin.yml.tmpl": ".github/workflows/plugin.yml"}
	err = fs.WalkDir(scaffold, "scaffold/"+kind, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[path] = strings.TrimSuffix(strings.TrimPrefix(path, "scaffold/"+kind+"/"), ".tmpl")
		}
		return err
	})
	if err != nil {
		return err
	}
	for from, to := range files {
		t, err := template.New(filepath.Base(from)).ParseFS(scaffold, from)
		if err != nil {
			return fmt.Errorf("make plugin: %w", err)
		}
		var b bytes.Buffer
		if err := t.Execute(&b, d); err != nil {
			return fmt.Errorf("make plugin: %w", err)
		}
		to = filepath.Join(dir, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fmt.Errorf("make plugin: %w", err)
		}
		if err := os.WriteFile(to, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("make plugin: %w", err)
		}
	}
	return nil
}

// next says what to do now.
func (d draft) next(w io.Writer, kind, dir string) error {
	from := "of the released version " + d.Version
	if d.Dir != "" {
		from = "in " + d.Dir
	}
	try := fmt.Sprintf("parley quickstart --source %s --plugin-lock on", d.Name)
	if kind != abi.KindProvider {
		try = "parley serve"
	}
	_, err := fmt.Fprintf(w, "%s: the files of %s %s, with the SDK %s\n\nNext:\n"+
		"  go -C %s test .\n"+
		"  parley plugin build %s --out dist\n"+
		"  parley plugin install dist/%s-0.1.0.wasm\n"+
		"  %s\n", dir, kind, d.Name, from, dir, dir, d.Name, try)
	return err
}
