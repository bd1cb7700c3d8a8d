package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSealer(t *testing.T) {
	dir := t.TempDir()
	open := func(master string) *Sealer {
		t.Helper()
		s, err := OpenSealer(dir, []byte(master))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	text := []byte("sk-very-secret")
	byFile := open("").Seal(text, "here")
	byMaster := open("the first master key").Seal(text, "here")
	flipped := bytes.Clone(byFile)
	flipped[len(flipped)-1] ^= 1

	tests := []struct {
		name   string
		master string
		sealed []byte
		place  string
		want   error
	}{
		{"file", "", byFile, "here", nil},
		{"file, read with a master key", "a later master key", byFile, "here", nil},
		{"master", "the first master key", byMaster, "here", nil},
		{"wrong master", "the other master key", byMaster, "here", ErrSealedElsewhere},
		{"no master", "", byMaster, "here", ErrSealedElsewhere},
		{"wrong place", "", byFile, "there", ErrSealBroken},
		{"altered", "", flipped, "here", ErrSealBroken},
		{"cut", "", byFile[:len(byFile)-5], "here", ErrSealBroken},
		{"short", "", byFile[:10], "here", ErrSealBroken},
		{"empty", "", nil, "here", ErrSealBroken},
		{"another form", "", append([]byte{9}, byFile[1:]...), "here", ErrSealBroken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := open(tt.master).Open(tt.sealed, tt.place)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Open: error %v, want %v", err, tt.want)
			}
			if tt.want == nil && !bytes.Equal(got, text) {
				t.Errorf("Open = %q, want %q", got, text)
			}
		})
	}
	for _, sealed := range [][]byte{byFile, byMaster} {
		if bytes.Contains(sealed, text[:6]) {
			t.Error("a sealed value holds its text")
		}
	}
	if again := open("").Seal(text, "here"); bytes.Equal(again, byFile) {
		t.Error("the same text sealed twice looks the same")
	}
}

func TestSealerFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := OpenSealer(dir, []byte("master")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, sealFile)
	if _, err := os.Stat(path); err == nil {
		t.Error("a key file was made although there is a master key")
	}
	s, err := OpenSealer(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode of the key file = %o, want 600", got)
	}
	key, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprintf("%+v", s), fmt.Sprintf("%+v", *s), fmt.Sprintf("%#v", *s)} {
		if strings.Contains(shown, string(key)) || strings.Contains(shown, strings.Trim(fmt.Sprint(s.seal.key()), "[]")) {
			t.Errorf("a dump shows the key: %s", shown)
		}
	}
	if err := os.WriteFile(path, key[:5], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSealer(dir, nil); err == nil || !strings.Contains(err.Error(), "holds 5 bytes") {
		t.Errorf("OpenSealer with a cut key file: error %v, want one that says so", err)
	}
}
