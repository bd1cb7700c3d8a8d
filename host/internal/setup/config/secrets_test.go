package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeTemp writes a file of the test's own.
func writeTemp(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestSecretsFromFiles has each secret in a file that a variable names, as editors and
// Kubernetes write them.
func TestSecretsFromFiles(t *testing.T) {
	const key = " geheim of 16 bytes "
	for _, end := range []string{"", "\n", "\r\n", "\n\n"} {
		c, settings, err := Load(Sources{Environ: []string{"PARLEY_MASTER_KEY_FILE=" + writeTemp(t, key+end)}})
		if err != nil || c.MasterKey.Reveal() != key {
			t.Errorf("a file that ends with %q: %q, %v; want the key with its spaces", end, c.MasterKey.Reveal(), err)
		}
		for _, s := range settings {
			if s.Option.Name == "master-key" && (s.Value != "[redacted]" || s.Origin != "environment PARLEY_MASTER_KEY_FILE") {
				t.Errorf("setting %+v, want its origin and not its value", s)
			}
		}
	}
	for _, o := range AllOptions() {
		if !o.Secret {
			continue
		}
		value := o.Kind.Examples[0]
		if _, _, err := Load(Sources{Environ: []string{o.EnvFile() + "=" + writeTemp(t, value+"\n")}, Only: []string{o.Name}}); err != nil {
			t.Errorf("%s with %q: %v", o.EnvFile(), value, err)
		}
	}
	if _, _, err := Load(Sources{Environ: []string{"PARLEY_MASTER_KEY_FILE=/nowhere/key"}, Only: []string{"http-addr"}}); err != nil {
		t.Errorf("a file that the command does not want: %v", err)
	}
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{[]string{"PARLEY_MASTER_KEY_FILE=/nowhere/key"}, "PARLEY_MASTER_KEY_FILE: open /nowhere/key"},
		{[]string{"PARLEY_MASTER_KEY_FILE=" + writeTemp(t, "\n")}, "is empty: want the secret on one line"},
		{[]string{"PARLEY_MASTER_KEY_FILE=" + writeTemp(t, "geheim\nb\n")}, "more than one line"},
		{[]string{"PARLEY_MASTER_KEY_FILE=" + writeTemp(t, "geheim"), "PARLEY_MASTER_KEY=other"}, "PARLEY_MASTER_KEY and PARLEY_MASTER_KEY_FILE are both set: keep one"},
		{[]string{"PARLEY_LOG_LEVEL_FILE=x"}, "unknown variable PARLEY_LOG_LEVEL_FILE"},
	} {
		_, _, err := Load(Sources{Environ: tt.environ})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: error %v, want %q in it", tt.environ, err, tt.want)
		}
	}
}

// TestReadSecrets changes files of secrets while the host runs.
func TestReadSecrets(t *testing.T) {
	write, master := writeTemp(t, "one"), writeTemp(t, "key of 16 bytes..")
	c, _, err := Load(Sources{Environ: []string{"PARLEY_TELEMETRY_WRITE_KEY_FILE=" + write, "PARLEY_MASTER_KEY_FILE=" + master}})
	if err != nil {
		t.Fatal(err)
	}
	held := c.Telemetry.WriteKey // as a sender holds it
	if changed, err := c.ReadSecrets(); len(changed) > 0 || err != nil {
		t.Errorf("nothing changed: %q, %v", changed, err)
	}
	put := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(write, "two\n")
	put(master, "another key of 16")
	changed, err := c.ReadSecrets()
	if strings.Join(changed, " ") != "telemetry-write-key" || held.Reveal() != "two" {
		t.Errorf("changed %q, the sender has %q; want the new write key", changed, held.Reveal())
	}
	if err == nil || !strings.Contains(err.Error(), "option master-key has changed, which takes a start") || strings.Contains(err.Error(), "another") {
		t.Errorf("the master key: %v", err)
	}
	put(write, "")
	if changed, err := c.ReadSecrets(); len(changed) > 0 || err == nil || held.Reveal() != "two" {
		t.Errorf("an empty file: %q, %v, the sender has %q; want what was read before", changed, err, held.Reveal())
	}
}

// TestEmptyVariables: a variable that is there and empty is one that is not set, but for a secret
// that is set elsewhere.
func TestEmptyVariables(t *testing.T) {
	file := writeTemp(t, "log_level = \"warn\"\nmaster_key = \"geheim of 16 bytes\"\n")
	c, _, err := Load(Sources{File: file, Environ: []string{"PARLEY_LOG_LEVEL=", "PARLEY_DB_PATH=", "PARLEY_EXPERIMENTAL_ENABLE_METRICS="}})
	if err != nil || c.LogLevel != "warn" || c.DBPath == "" {
		t.Errorf("Load = %q, %q, %v; want what the file says, and the default", c.LogLevel, c.DBPath, err)
	}
	_, _, err = Load(Sources{File: file, Environ: []string{"PARLEY_MASTER_KEY="}})
	if err == nil || !strings.Contains(err.Error(), "PARLEY_MASTER_KEY is empty, and file "+file+" has another") || strings.Contains(err.Error(), "geheim") {
		t.Errorf("an empty master key beside one of the file: %v, want it refused", err)
	}
	if c, _, err := Load(Sources{Environ: []string{"PARLEY_MASTER_KEY="}}); err != nil || !c.MasterKey.IsZero() {
		t.Errorf("an empty master key alone: %v", err)
	}
}

// TestFilesOfEditors reads what Windows' editors and other programs write.
func TestFilesOfEditors(t *testing.T) {
	c, _, err := Load(Sources{File: writeTemp(t, "\xef\xbb\xbflog_level = \"warn\"\r\nallowed_hosts = [\"a.example\", \"b.example\"]\r\n"), Environ: []string{"PARLEY_NO_ANALYTICS=True", "PARLEY_EXPERIMENTAL_ENABLE_METRICS=TRUE"}})
	if err != nil || c.LogLevel != "warn" || strings.Join(c.AllowedHosts, " ") != "a.example b.example" || !c.EnableMetrics || !c.Telemetry.Off {
		t.Errorf("Load = %q, %q, %v, %v", c.LogLevel, c.AllowedHosts, c.EnableMetrics, err)
	}
	for text, want := range map[string]string{
		"\xff\xfel\x00o\x00":          "it is UTF-16: save it as UTF-8",
		"log_level = [\"warn\"]\n":    "log_level holds a table or list",
		"allowed_hosts = [[\"a\"]]\n": "allowed_hosts holds a table or list",
	} {
		if _, _, err := Load(Sources{File: writeTemp(t, text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
