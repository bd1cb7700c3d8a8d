package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

func pluginCheckCommand() *cobra.Command {
	var t trial.Options
	var asJSON bool
	var junit string
	cmd := &cobra.Command{
		Use:   "check PLUGIN.wasm",
		Short: "Test a plugin in any language against the contract",
		Long: "Run a plugin through the conformance kit: manifest, exports and imports; every call with good input, bad\n" +
			"input, none and much; equal answers on two instances and among other streams; what later versions of the\n" +
			"contract may add; memory and fuel over 10,000 calls. Prints a line for each check, and what to do about those\n" +
			"that failed; the exit code is 1 if there is one.\n\n" +
			"*.case files are run too: responses with what the plugin must make of them. They are those of --cases, else those in\n" +
			"testdata next to the plugin's manifest.json, where that is near: in the folder of the module or above it, in the\n" +
			"working directory, or in a folder of the plugin's name in one of them.",
		Example: "  parley plugin check plugins/dist/vllm-1.0.0.wasm --cases plugins/provider/vllm/testdata",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			module, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("read plugin: %w", err)
			}
			if t.Cases == "" {
				t.Cases = findCases(args[0], module)
			}
			t.Compiler = cmdutil.CompilerArgs()
			t.CacheDir = cmdutil.CompiledDir()
			report, err := trial.Check(cmd.Context(), module, t)
			if err != nil {
				return fmt.Errorf("check %s: %w", args[0], err)
			}
			if junit != "" {
				var b bytes.Buffer
				if err := errors.Join(report.WriteJUnit(&b), os.WriteFile(junit, b.Bytes(), 0o644)); err != nil {
					return fmt.Errorf("write report: %w", err)
				}
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), report)
			} else {
				err = report.WriteTable(cmd.OutOrStdout())
			}
			if err == nil && !report.Passed {
				err = fmt.Errorf("%s does not keep the contract", args[0])
			}
			return err
		},
	}
	cmd.Flags().StringVar(&t.Cases, "cases", "", "folder of *.case files to run (default: those next to the manifest)")
	cmd.Flags().DurationVar(&t.CallTimeout, "call-timeout", 0, "bound of one call; 0: what a host allows")
	cmd.Flags().StringVar(&t.Against, "against", "", "module to compare with: size, fuel, answers that changed")
	cmd.Flags().StringVar(&junit, "junit", "", "file to write the report to as JUnit XML, for CI")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func pluginBenchCommand() *cobra.Command {
	var t trial.Options
	var body string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "bench PLUGIN.wasm",
		Short: "Measure what a plugin costs: time, fuel, memory, start, size",
		Long: "Measure a plugin as a host runs it, metered and through its pool: the time and the fuel of an event, of\n" +
			"making a request and of sorting an error, of a flush, or of a guard's call at each stage; what an instance\n" +
			"takes to start, and its memory; what compiling takes, once. Times are medians of short runs; fuel is the same on every machine.\n\n" +
			"Events are those of --body, a recorded response, or of --cases; without either, of a stream in the form\n" +
			"of a known API that the plugin makes text of.",
		Example: "  parley plugin bench plugins/dist/vllm-1.0.0.wasm --cases plugins/provider/vllm/testdata",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			module, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("read plugin: %w", err)
			}
			if body != "" {
				if t.Body, err = os.ReadFile(body); err != nil {
					return fmt.Errorf("read body: %w", err)
				}
			}
			if t.Cases == "" && body == "" {
				t.Cases = findCases(args[0], module)
			}
			t.Compiler = cmdutil.CompilerArgs()
			figures, err := trial.Measure(cmd.Context(), module, t)
			if err != nil {
				return fmt.Errorf("measure %s: %w", args[0], err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), figures)
			}
			return figures.WriteTable(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&body, "body", "", "file with a recorded response whose events are measured")
	cmd.Flags().StringVar(&t.Cases, "cases", "", "folder of *.case files whose events are measured")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	return cmd
}

// findCases returns the folder of the cases next to the manifest of a plugin whose
// module is that file; empty where there is none.
func findCases(file string, module []byte) string {
	report, err := plugin.Inspect(module)
	if err != nil || report.Manifest == nil {
		return ""
	}
	name := report.Manifest.Name
	for _, dir := range []string{filepath.Dir(file), filepath.Join(filepath.Dir(file), ".."), "."} {
		for _, dir := range []string{dir, filepath.Join(dir, name)} {
			var m struct{ Name string }
			b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
			if err != nil || json.Unmarshal(b, &m) != nil || m.Name != name {
				continue
			}
			for _, cases := range []string{filepath.Join(dir, "testdata"), dir} {
				if found, _ := sysinfo.Glob(cases, "*.case"); len(found) > 0 {
					return cases
				}
			}
		}
	}
	return ""
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
