package telemetry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestDecide(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{EnvNoAnalytics, EnvDoNotTrack} {
		for _, on := range []string{"", "0", "false", "FALSE", "no", "off", " off "} {
			if by := DecideBy([]string{name + "=" + on}, ""); by != "" {
				t.Errorf("DecideBy with %s=%q = %q, want on", name, on, by)
			}
		}
		for _, off := range []string{"1", "true", "yes", "on", "please", "-1"} {
			if by := DecideBy([]string{"HOME=/", name + "=" + off}, ""); !strings.Contains(by, name) {
				t.Errorf("DecideBy with %s=%q = %q, want off by it", name, off, by)
			}
		}
	}
	if by := DecideBy(nil, "flag --no-analytics"); by != "flag --no-analytics" {
		t.Errorf("DecideBy with the flag = %q", by)
	}
	if err := SwitchOff(dir); err != nil {
		t.Fatal(err)
	}
	if by, err := SwitchedOff(dir); !strings.Contains(by, "parley telemetry off") || err != nil {
		t.Errorf("SwitchedOff after SwitchOff = %q, %v", by, err)
	}
	for range 2 {
		if err := SwitchOn(dir); err != nil {
			t.Fatal(err)
		}
	}
	if by, err := SwitchedOff(dir); by != "" || err != nil {
		t.Errorf("SwitchedOff after SwitchOn = %q, %v, want on", by, err)
	}
}

func TestUID(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadUID(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadUID where there is none: %v, want %v", err, fs.ErrNotExist)
	}
	const machine = "0123456789abcdef0123456789abcdef"
	u, anew, err := OpenUID(dir, machine)
	if anew != nil || err != nil {
		t.Fatal(anew, err)
	}
	for _, here := range []string{machine, ""} {
		if again, anew, err := OpenUID(dir, here); again != u || anew != nil || err != nil {
			t.Errorf("OpenUID again on %q = %s, %v, %v, want %s", here, again, anew, err, u)
		}
	}
	if note, err := os.ReadFile(filepath.Join(dir, machineFile)); err != nil || strings.Contains(string(note), machine[:8]) {
		t.Errorf("the note of the machine says %q, %v, want nothing that names it", note, err)
	}
	info, err := os.Stat(filepath.Join(dir, uidFile))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the UID's file has mode %o, want 600", mode)
	}
	if err := os.MkdirAll(filepath.Join(dir, SpoolDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if was, err := Forget(dir); was != u || err != nil {
		t.Errorf("Forget = %s, %v, want %s", was, err, u)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != offFile {
		t.Errorf("the directory holds %v, %v after Forget, want the switch alone", entries, err)
	}
	if _, err := Forget(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Forget again: %v, want %v", err, fs.ErrNotExist)
	}
}

// TestUIDDamaged shows that a UID which cannot be read is made anew, once, and goes where
// telemetry is forgotten.
func TestUIDDamaged(t *testing.T) {
	for what, damage := range map[string]func(file string) error{
		"empty":    func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"zeros":    func(file string) error { return os.WriteFile(file, make([]byte, 37), 0o600) },
		"nonsense": func(file string) error { return os.WriteFile(file, []byte("jane"), 0o600) },
		"a folder": func(file string) error { return os.MkdirAll(filepath.Join(file, "x"), 0o700) },
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, uidFile)
		if err := damage(file); err != nil {
			t.Fatal(err)
		}
		u, anew, err := OpenUID(dir, "m")
		if anew == nil || err != nil {
			t.Errorf("%s: OpenUID = %v, %v, want why there is a new one", what, anew, err)
		}
		if again, anew, err := OpenUID(dir, "m"); again != u || anew != nil || err != nil {
			t.Errorf("%s: OpenUID again = %s, %v, %v, want %s", what, again, anew, err, u)
		}
		if err := errors.Join(os.Remove(file), damage(file)); err != nil {
			t.Fatal(err)
		}
		if _, err := Forget(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: Forget: %v, want %v", what, err, fs.ErrNotExist)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != offFile {
			t.Errorf("%s: the directory holds %v, %v after Forget, want the switch alone", what, entries, err)
		}
	}
}

// TestUIDCopied shows that a copy of a data directory on another machine is another
// instance, and that a directory of an earlier version is none.
func TestUIDCopied(t *testing.T) {
	dir := t.TempDir()
	u, _, err := OpenUID(dir, "one")
	if err != nil {
		t.Fatal(err)
	}
	copied, anew, err := OpenUID(dir, "two")
	if copied == u || anew == nil || err != nil {
		t.Errorf("OpenUID on another machine = %s, %v, %v, want another than %s", copied, anew, err, u)
	}
	if again, anew, err := OpenUID(dir, "two"); again != copied || anew != nil || err != nil {
		t.Errorf("OpenUID there again = %s, %v, %v, want %s", again, anew, err, copied)
	}
	if err := os.Remove(filepath.Join(dir, machineFile)); err != nil {
		t.Fatal(err)
	}
	if old, anew, err := OpenUID(dir, "three"); old != copied || anew != nil || err != nil {
		t.Errorf("OpenUID without a note = %s, %v, %v, want %s", old, anew, err, copied)
	}
	if _, anew, err := OpenUID(dir, "four"); anew == nil || err != nil {
		t.Errorf("OpenUID on a machine after that: %v, %v, want another", anew, err)
	}
}
