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
	u, err := OpenUID(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := OpenUID(dir); again != u || err != nil {
		t.Errorf("OpenUID again = %s, %v, want %s", again, err, u)
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
	if err := os.WriteFile(filepath.Join(dir, uidFile), []byte("jane"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenUID(dir); err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("OpenUID of nonsense: %v, want what to do", err)
	}
}
