package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// Each option with a wrong value, by flag, variable and file: one line that
// names option, origin, value and what is allowed, and no secret; exit code 2.
func TestWrongOptions(t *testing.T) {
	if apart.Run(t) {
		return
	}
	for _, o := range config.AllOptions() {
		value := o.Kind.Wrong
		shown := strings.Trim(strconv.Quote(value), `"`)
		switch {
		case o.Name == "master-key":
			value = "too short" // in production
		case isPath(o):
			shown = "is empty"
		case value == "":
			continue // it takes whatever is written
		}
		if o.Secret || strings.Contains(value, "s3cret") {
			shown = ""
		}
		file := filepath.Join(t.TempDir(), "c.toml")
		if err := os.WriteFile(file, fmt.Appendf(nil, "%s = %q\n", o.Key(), value), 0o600); err != nil {
			t.Fatal(err)
		}
		for origin, way := range map[string]struct {
			args []string
			env  bool
		}{
			"flag --" + o.Name:       {args: []string{"--" + o.Name + "=" + value}},
			"environment " + o.Env(): {env: true},
			"file " + file:           {args: []string{"--config-file-path", file}},
		} {
			if way.env && value == "" {
				continue // an empty variable counts as not set
			}
			t.Run(o.Name+"/"+strings.Fields(origin)[0], func(t *testing.T) {
				t.Setenv(o.Env(), value) // which the end of the test undoes
				if !way.env {
					os.Unsetenv(o.Env()) // tests share a cache that a variable names
				}
				args := append([]string{"config", "explain"}, way.args...)
				if o.Name == "master-key" {
					args = append(args, "--env=production")
				}
				var stdout, stderr bytes.Buffer
				if code := run(t.Context(), args, &stdout, &stderr); code != exitUsage {
					t.Errorf("exit code %d, want %d", code, exitUsage)
				}
				said := strings.TrimSuffix(stderr.String(), "\n")
				allowed := o.Kind.Allowed
				if o.Name == "master-key" {
					allowed = "at least 16 when env is production"
				}
				for _, want := range []string{"option " + o.Name + " (" + origin + ")", shown, "want " + allowed} {
					if !strings.Contains(said, want) {
						t.Errorf("said %q, want %q in it", said, want)
					}
				}
				if strings.Contains(said, "\n") || strings.Contains(said, "s3cret") || o.Name == "master-key" && strings.Contains(said, value) {
					t.Errorf("said %q, want one line and no secret", said)
				}
			})
		}
	}
}

func isPath(o config.Option) bool {
	return o.Kind.Name == config.KindDirectory || o.Kind.Name == config.KindFile
}

// A path with another thing in its place, or in its way, is refused at the start
// and not when it is first used.
func TestWrongPaths(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range config.AllOptions() {
		if !isPath(o) || o.Name == "plugin-cache-dir" { // nothing depends on it: TestPluginCacheUnusable
			continue
		}
		name := o.Name
		is := map[string]string{filepath.Join(file, "below"): "leads through a file"}
		right := filepath.Join(dir, "none")
		if o.Kind.Name == config.KindDirectory {
			is[file] = "is a file"
		} else {
			is[dir] = "is a directory"
		}
		explain := func(path string) (code int, said string) {
			var stdout, stderr bytes.Buffer
			args := []string{"config", "explain", "--" + name, path}
			if strings.HasPrefix(name, "ssl-") && name != "ssl-cert-path" {
				args = append(args, "--ssl-cert-path", file)
			}
			if strings.HasPrefix(name, "ssl-") && name != "ssl-key-path" {
				args = append(args, "--ssl-key-path", file)
			}
			if strings.HasPrefix(name, "cluster-") {
				args = append(args, "--cluster-name", "demo", "--cluster-nats", "nats://127.0.0.1:4222", "--cluster-advertise", "http://127.0.0.1:7700", "--master-key", "0123456789abcdef")
			}
			return run(t.Context(), args, &stdout, &stderr), strings.TrimSuffix(stderr.String(), "\n")
		}
		for path, wrong := range is {
			code, said := explain(path)
			want := fmt.Sprintf("option %s (flag --%[1]s) is %q, which %s: want a ", name, path, wrong)
			if code != exitUsage || !strings.Contains(said, want) || strings.Contains(said, "\n") {
				t.Errorf("exit code %d, said %q; want %d, and one line with %q", code, said, exitUsage, want)
			}
		}
		if code, said := explain(right); code != exitOK {
			t.Errorf("--%s %s, which is not there: exit code %d, said %q", name, right, code, said)
		}
	}
}

// writeFile makes a file of dir, and returns its path.
func writeFile(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The configuration file is named by flag or variable, the flag being stronger,
// and explained like the options; a wrong one is one line with exit code 2.
//
//parley:option config-file-path
func TestConfigFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string { return writeFile(t, dir, name, text) }
	here, there := write("here.toml", "chat_max_rounds = 3\n"), write("there.toml", "chat_max_rounds = 4\n")
	explain := func(want int, variable string, args ...string) (stdout, stderr string) {
		t.Helper()
		t.Setenv("PARLEY_CONFIG_FILE_PATH", variable)
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"config", "explain"}, args...), &out, &errs); code != want {
			t.Errorf("with %s and %q the exit code is %d, want %d: %s", args, variable, code, want, errs.String())
		}
		return out.String(), strings.TrimSuffix(errs.String(), "\n")
	}
	for _, tt := range []struct {
		variable string
		args     []string
		file     string
		origin   string
	}{
		{there, nil, there, "environment PARLEY_CONFIG_FILE_PATH"},
		{there, []string{"--config-file-path", here}, here, "flag --config-file-path"},
		{"", nil, "-", "default"},
	} {
		said, _ := explain(exitOK, tt.variable, tt.args...)
		want := []string{"config-file-path", tt.file, tt.origin, "PARLEY_CONFIG_FILE_PATH"}
		lines := strings.Split(said, "\n")
		at := 0
		for _, w := range want {
			i := strings.Index(lines[1][at:], w)
			if i < 0 {
				t.Fatalf("explained as %q, want %q in this order", lines[1], want)
			}
			at += i + len(w)
		}
		if tt.file != "-" && !strings.Contains(said, "file "+tt.file) {
			t.Errorf("no option is said to come of %s:\n%s", tt.file, said)
		}
	}
	for file, wrong := range map[string]string{
		filepath.Join(dir, "none.toml"): "no such file",
		dir:                             "is a directory",
		write("broken.toml", "log_level = \"info\"\nenv = \n"): "line 2: ",
	} {
		_, said := explain(exitUsage, "", "--config-file-path", file)
		place := "option config-file-path (flag --config-file-path) is \"" + file + "\""
		if filepath.Base(file) == "broken.toml" {
			place = "configuration file " + file
		}
		if !strings.Contains(said, place) || !strings.Contains(said, wrong) || strings.Contains(said, "\n") {
			t.Errorf("said %q, want one line with %q and %q", said, place, wrong)
		}
	}
}
