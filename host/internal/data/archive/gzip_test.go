package archive

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMeilisearchDump wants a dump of Meilisearch refused by its name, and not as
// damaged: nothing is wrong with it.
func TestMeilisearchDump(t *testing.T) {
	name := filepath.Join(t.TempDir(), "20260101.dump")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte("metadata.json")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Check(name)
	if err == nil || !strings.Contains(err.Error(), "a dump of Meilisearch is read by") || strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v, want it to say what the file is", err)
	}
}
