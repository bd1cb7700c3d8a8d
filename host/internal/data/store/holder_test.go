package store

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestHolder wants others to learn who has a data directory, and where that serves.
func TestHolder(t *testing.T) {
	dir := t.TempDir()
	if pid, url := ReadHolder(dir); pid != "" || url != "" {
		t.Errorf("ReadHolder of a directory that nobody had: %q, %q", pid, url)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.NoteURL("http://127.0.0.1:1")
	if pid, url := ReadHolder(dir); pid != strconv.Itoa(os.Getpid()) || url != "http://127.0.0.1:1" {
		t.Errorf("ReadHolder: %q, %q; want this process and its URL", pid, url)
	}
	if _, err := Lock(dir); err == nil || !strings.Contains(err.Error(), "is in use by process "+strconv.Itoa(os.Getpid())+" at http://127.0.0.1:1: stop it") {
		t.Errorf("Lock of a directory in use: %v; want the process and its URL", err)
	}
}
