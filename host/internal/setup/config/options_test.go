package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi/event"
)

// absentOptions are the experiments of Meilisearch that telemetry reports, each
// as a constant, and that are no options here.
const absentOptions = `
## What is not offered

Options and features of Meilisearch that ` + "`GET /telemetry`" + ` reports as off, since nothing switches them here:

| | because |
|---|---|
| ` + "`--experimental-dumpless-upgrade`" + ` | there is one data format so far, and no upgrade to allow |
| ` + "`--experimental-no-edition-2024-for-settings`" + ` | it chooses between two indexers; here is one |
| feature ` + "`editDocumentsByFunction`" + ` | it runs scripts over documents; this host runs no code but plugins |
| CUDA | vectors are compared by the processor |
`

// pickExample returns a value that o takes and that is not its default.
func pickExample(t *testing.T, o Option) string {
	t.Helper()
	for _, value := range o.Kind.Examples {
		if value != o.Default {
			return value
		}
	}
	t.Fatalf("option %s: its kind %s has no example but the default: add one", o.Name, o.Kind.Name)
	return ""
}

// TestOptionsAreTaken: each option changes the configuration, by a value of its
// own and alone, and the event of the launch where its row says so.
func TestOptionsAreTaken(t *testing.T) {
	load := func(o Option, value string) (Config, event.Launch) {
		c := Config{}
		if value != "" {
			if err := o.Kind.set(&c, value); err != nil {
				t.Errorf("option %s refuses %q: %v", o.Name, value, err)
			}
		}
		origin := defaultOrigin
		if value != o.Default {
			origin = "flag"
		}
		var e event.Launch
		if o.Launch != nil {
			o.Launch(&e, Setting{Option: o, Value: value, Origin: origin})
		}
		return c, e
	}
	for _, o := range AllOptions() {
		before, was := load(o, o.Default)
		after, is := load(o, pickExample(t, o))
		if reflect.DeepEqual(before, after) {
			t.Errorf("option %s = %s changes nothing", o.Name, pickExample(t, o))
		}
		if o.Launch != nil && was == is {
			t.Errorf("option %s = %s changes nothing in the event of the launch", o.Name, pickExample(t, o))
		}
		if o.Kind.Wrong != "" {
			if err := o.Kind.set(&Config{}, o.Kind.Wrong); err == nil {
				t.Errorf("option %s takes %q", o.Name, o.Kind.Wrong)
			}
		}
	}
}

// TestLaunchReported wants every field of the launch to be reported by one
// option, but for those that are no option's.
func TestLaunchReported(t *testing.T) {
	fields := reflect.TypeFor[event.Launch]()
	by := map[string]string{
		"Version": "the program", "WithConfigurationFile": "Load", "GPUEnabled": "nobody",
		"NoEdition2024": "nobody", "DumplessUpgrade": "nobody", // see absentOptions
	}
	for _, o := range AllOptions() {
		if o.Launch == nil {
			continue
		}
		seen := reflect.New(fields).Elem()
		for _, value := range o.Kind.Examples { // false says nothing
			var e event.Launch
			o.Launch(&e, Setting{Option: o, Value: value, Origin: "flag"})
			for i := range fields.NumField() {
				if f := reflect.ValueOf(e).Field(i); !f.IsZero() {
					seen.Field(i).Set(f)
				}
			}
		}
		for i := range fields.NumField() {
			if name := fields.Field(i).Name; !seen.Field(i).IsZero() {
				if by[name] != "" {
					t.Errorf("%s is reported by %s and by option %s", name, by[name], o.Name)
				}
				by[name] = "option " + o.Name
			}
		}
	}
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; by[name] == "" {
			t.Errorf("no option reports %s", name)
		}
	}
}

// TestKindsRefuse tries more wrong values than the one that a kind names.
func TestKindsRefuse(t *testing.T) {
	var c Config
	text, list, whole, large, spell := &c.DBPath, &c.ChatRecordWorkspaces, &c.ChatMaxRounds, &c.PayloadLimit, &c.ShutdownGrace
	for _, tt := range []struct {
		kind  Kind
		wrong []string
	}{
		{integerKind(func(*Config) *int { return whole }, 1, 100), []string{"", "0", "101", "-1", "1.5", "ten"}},
		{sizeKind(func(*Config) *int64 { return large }), []string{"", "0", "-1", "0x1", "much", "2 TiB"}},
		{durationKind(func(*Config) *time.Duration { return spell }), []string{"", "0s", "-1s", "10", "soon"}},
		{durationOrZeroKind(func(*Config) *time.Duration { return spell }), []string{"", "-1s", "10"}},
		{secondsKind(func(*Config) *time.Duration { return spell }), []string{"", "-1", "1h", "40000000"}},
		{choiceKind(func(*Config) *string { return text }, "a", "b"), []string{"", "A", "c"}},
		{uidsKind(func(*Config) *[]string { return list }, ""), []string{"", "a,,b", "a.b"}},
		{directoryKind(func(*Config) *string { return text }), []string{"", "options_test.go", "options_test.go/x"}},
		{fileKind(func(*Config) *string { return text }), []string{"", ".", "options_test.go/x"}},
	} {
		for _, value := range tt.wrong {
			if err := tt.kind.set(&c, value); err == nil {
				t.Errorf("kind %s takes %q", tt.kind.Name, value)
			}
		}
	}
}

// TestOptionsPage holds options.md to the options that there are, and the tests
// that it names to those that there are.
func TestOptionsPage(t *testing.T) {
	tests := optionTests(t)
	var b strings.Builder
	b.WriteString("# Options\n\nWritten by `UPDATE=1 go test ./host/internal/setup/config -run TestOptionsPage`. A flag is\n" +
		"stronger than its variable, that stronger than the file's key, that than the default. `parley config\nexplain` shows what is in force.\n" +
		"`DO_NOT_TRACK` is another way to say `no-analytics`. What switches while the host runs: [features](features.md).\n\n" +
		"A wrong value is one line that names the option, where it came from, the value (but of a secret) and\nwhat is allowed; the exit status is 2 then, and where a certificate or an archive that an option\nnames cannot be used.\n\n" +
		"An empty variable counts as not set. Each secret may come from a file instead:\n`PARLEY_MASTER_KEY_FILE` names one that holds the master key on one line, and so for the others.\nSIGHUP reads them again; `telemetry-write-key` and `task-webhook-authorization-header` count at once,\nthe others from the next start (`TestSecretsFromFiles`, `TestReadSecrets`).\n\n" +
		"| flag | variable | key | default | effect | allowed | seen by |\n|---|---|---|---|---|---|---|\n" +
		"| `--config-file-path` | `PARLEY_CONFIG_FILE_PATH` | none | `" + DefaultConfigFile + "`, where it exists | TOML file with the keys of this table | the path of a file | `" + tests["config-file-path"] + "` |\n")
	for _, o := range AllOptions() {
		if tests[o.Name] == "" {
			t.Errorf("no test sees the effect of option %s: write one with the directive //parley:option %[1]s above it", o.Name)
		}
		def := "none"
		if o.Default != "" {
			def = "`" + o.Default + "`"
		}
		fmt.Fprintf(&b, "| `--%s` | `%s` | `%s` | %s | %s | %s | `%s` |\n", o.Name, o.Env(), o.Key(), def, escapeCell(o.Meaning), escapeCell(o.Kind.Allowed), tests[o.Name])
	}
	for _, o := range AllOptions() {
		if strings.Contains(absentOptions, "`--"+o.Name+"`") {
			t.Errorf("option %s is offered and said not to be", o.Name)
		}
	}
	b.WriteString(absentOptions)
	for name, test := range tests {
		if !strings.Contains(b.String(), "`--"+name+"`") {
			t.Errorf("%s is the test of option %s, which there is not", test, name)
		}
	}
	old, err := os.ReadFile("../../../docs/reference/options.md")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if string(old) == b.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatal("options.md is not what options.go says: UPDATE=1 go test ./host/internal/setup/config -run TestOptionsPage writes it")
	}
	if err := os.WriteFile("../../../docs/reference/options.md", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// escapeCell is text as a cell of a table takes it.
func escapeCell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s)
}

// optionTests are the tests with the directive //parley:option, by the options
// that it names.
func optionTests(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, root := range []string{"../../..", "../../../../cmd"} {
		err := filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			b, err := os.ReadFile(name)
			var options []string
			for line := range strings.Lines(string(b)) {
				if names, ok := strings.CutPrefix(line, "//parley:option "); ok {
					options = append(options, strings.Fields(names)...)
				} else if test, ok := strings.CutPrefix(line, "func "); ok {
					test, _, _ = strings.Cut(test, "(")
					for _, o := range options {
						if found[o] != "" {
							t.Errorf("option %s is tested by %s and by %s: want one", o, found[o], test)
						}
						found[o] = test
					}
					options = nil
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
