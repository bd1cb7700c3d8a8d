package sysinfo_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
)

// TestGlob finds the files of a folder whose own name has characters of patterns.
func TestGlob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]c{d}")
	if err := os.MkdirAll(filepath.Join(dir, "w-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"1.sst", "2.sst", "2.mem", "w-1/x"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	if got, err := sysinfo.Glob(dir, "*.sst"); err != nil || !slices.Equal(got, want[:2]) {
		t.Errorf("found %q, %v; want %q", got, err, want[:2])
	}
	if got, err := sysinfo.Glob(dir, "w-*/*"); err != nil || !slices.Equal(got, want[3:]) {
		t.Errorf("found %q, %v; want %q", got, err, want[3:])
	}
	if got, err := sysinfo.Glob(filepath.Join(dir, "none"), "*"); err != nil || len(got) > 0 {
		t.Errorf("of no folder: %q, %v; want nothing", got, err)
	}
}
