package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// noJSON are the commands without --json, and why.
var noJSON = map[string]string{
	"parley serve":               "it prints no result",
	"parley health":              "the exit status is its result",
	"parley cluster create":      "it prints no result",
	"parley quickstart":          "it serves",
	"parley compile-module":      "the host starts it for itself",
	"parley end-children":        "quickstart starts it for itself",
	"parley bench floor":         "it serves",
	"parley bench provider":      "it serves",
	"parley guard try":           "it prints the text as it would pass",
	"parley plugin inspect":      "what it prints is JSON",
	"parley plugin replay":       "what it prints is JSON",
	"parley plugin try":          "what it prints is a talk, line by line",
	"parley telemetry export":    "what it prints is JSON",
	"parley telemetry dashboard": "what it prints is JSON",
}

// Every command that prints a result prints it as JSON, too.
func TestCommandsJSON(t *testing.T) {
	var check func(cmd *cobra.Command)
	known := 0
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			check(sub)
		}
		_, without := noJSON[cmd.CommandPath()]
		if without {
			known++
		}
		if !cmd.HasSubCommands() && without == (cmd.Flags().Lookup(cmdutil.FlagJSON) != nil) {
			t.Errorf("%s: has --json %t; want the other, or a row of noJSON taken out", cmd.CommandPath(), without)
		}
	}
	check(rootCommand(nil))
	if known != len(noJSON) {
		t.Errorf("noJSON has %d rows, and %d of them are commands", len(noJSON), known)
	}
}

// A misspelt command is told of before the flags that it would have had.
func TestCommandMisspelt(t *testing.T) {
	for line, want := range map[string]string{
		"srve --db-path x":            `unknown command "srve" for "parley": did you mean "serve"?`,
		"plugin lst --json":           `unknown command "lst" for "parley plugin": did you mean "list"?`,
		"xyzzy --json":                "unknown command \"xyzzy\" for \"parley\"; `parley --help` lists what there is",
		"documents imprt a --index b": `unknown command "imprt" for "parley documents": did you mean "import"?`,
		"serve --db-pth x":            "did you mean --db-path?",
		"--db-path x":                 "unknown flag: --db-path",
		"help xyzzy":                  `unknown command "xyzzy" for "parley"`,
		"help plugin lst":             `did you mean "list"?`,
		"start":                       `did you mean "parley serve"?`,
		"install ollama":              `did you mean "parley plugin install"?`,
		"restore x.dump":              "unknown command \"restore\" for \"parley\"; `parley --help` lists what there is", // of several groups
		"plugin uninstall ollama":     `did you mean "parley plugin remove"?`,
		"plugin ls":                   `did you mean "parley plugin list"?`,
		"documents add a.json":        `did you mean "parley documents import"?`,
	} {
		var out, errs strings.Builder
		code := run(t.Context(), strings.Fields(line), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("parley %s: code %d, said %q and printed %q; want %d and %q", line, code, errs.String(), out.String(), exitUsage, want)
		}
	}
	var help strings.Builder
	if code := run(t.Context(), []string{"--help"}, &help, &help); code != exitOK {
		t.Fatalf("--help: code %d", code)
	}
	for _, name := range []string{"ask", "search", "completion"} {
		if !slices.ContainsFunc(strings.Split(help.String(), "\n"), func(line string) bool { return strings.HasPrefix(line, "  "+name+" ") }) {
			t.Errorf("the help does not list %s:\n%s", name, help.String())
		}
	}
	var script strings.Builder
	if code := run(t.Context(), []string{"completion", "bash"}, &script, &script); code != exitOK || !strings.Contains(script.String(), "__parley") {
		t.Errorf("completion bash: code %d, %d bytes", code, script.Len())
	}
	var names strings.Builder
	if code := run(t.Context(), []string{cobra.ShellCompRequestCmd, "as"}, &names, &names); code != exitOK || !strings.HasPrefix(names.String(), "ask\t") {
		t.Errorf("completion of as: code %d, %q", code, names.String())
	}
}
