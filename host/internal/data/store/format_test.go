package store

import (
	"strings"
	"testing"
)

// Data of a later version is refused, with what to do, and stays as it is.
func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, map[string]string{prefixMeta + "format": "2"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s, err := Open(dir); err == nil || !strings.Contains(err.Error(), `format "2", this build knows format 1: run the version that wrote it`) {
			t.Errorf("Open of a newer format = %v, want a refusal that says what to do", err)
			if err == nil {
				s.Close()
			}
		}
	}
}
