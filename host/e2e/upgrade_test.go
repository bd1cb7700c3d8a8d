package e2e

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// heldMaster is the master key of the data that is kept in testdata.
const heldMaster = "the master key of data that is kept"

// TestOldData opens what earlier builds left: of each format that there was, a
// data directory, a dump and a snapshot. They are made once, by UPDATE=1 where
// they are missing, and never written again: what opened once must open on.
func TestOldData(t *testing.T) {
	t.Parallel()
	const kept = "testdata/v1"
	if _, err := os.Stat(kept); errors.Is(err, os.ErrNotExist) && os.Getenv("UPDATE") != "" {
		keepData(t, kept)
	}
	for name, flags := range map[string]map[string]string{
		"directory": {},
		"dump":      {"import-dump": filepath.Join(kept, "data.dump")},
		"snapshot":  {"import-snapshot": filepath.Join(kept, "data.snapshot")},
	} {
		t.Run(name, func(t *testing.T) {
			flags["master-key"], flags["db-path"] = heldMaster, filepath.Join(t.TempDir(), "data")
			if name == "directory" {
				unpack(t, filepath.Join(kept, "data.tar.zst"), flags["db-path"])
			}
			h := house.Open(t, flags)
			h.Client.Transport = bearer{h.Client.Transport, heldMaster}
			settleTasks(h)
			if !waittest.Until(func() bool {
				return strings.Contains(h.Must("GET", "/indexes/films/search?q=number2", "").Body, `"id":2,`)
			}) {
				t.Error("no document is found")
			}
			h.CheckFilms(5)
			for path, want := range map[string]string{
				"/network":                `"searchApiKey":"sk-weXXXXXX..."`,
				"/experimental-features":  `"containsFilter":true`,
				"/indexes/films/settings": `"ocean":["sea"]`,
				"/indexes/films/documents/1?retrieveVectors=true": `"embeddings":[[0.5,1]]`,
				"/tasks?types=settingsUpdate":                     `"succeeded"`,
				"/keys":                                           `"name":"kept"`,
			} {
				if r := h.Must("GET", path, ""); !strings.Contains(r.Body, want) {
					t.Errorf("GET %s = %s, want %s in it", path, r.Body, want)
				}
			}
			h.Finish(h.Must("POST", "/indexes/films/documents", `[{"id":7,"title":"one more"}]`))
		})
	}
}

// keepData makes what TestOldData opens.
func keepData(t *testing.T, to string) {
	t.Helper()
	data, out := filepath.Join(t.TempDir(), "data"), t.TempDir()
	h := house.Open(t, map[string]string{"master-key": heldMaster, "db-path": data, "dump-dir": out, "snapshot-dir": out, "no-analytics": "true"})
	h.Client.Transport = bearer{h.Client.Transport, heldMaster}
	h.Finish(h.Must("PATCH", "/indexes/films/settings", `{"synonyms":{"ocean":["sea"]},"embedders":{"plane":{"source":"userProvided","dimensions":2}}}`))
	h.AddFilms(5)
	h.Finish(h.Must("PUT", "/indexes/films/documents", `[{"id":1,"_vectors":{"plane":[0.5,1]}}]`))
	h.Must("PATCH", "/experimental-features", `{"network":true,"containsFilter":true}`)
	h.Must("PATCH", "/network", `{"remotes":{"there":{"url":"http://there.example","searchApiKey":"`+apiKey+`"}}}`)
	h.Must("POST", "/keys", `{"name":"kept","actions":["search"],"indexes":["films"],"expiresAt":null}`)
	dump, snapshot := makeArchive(h, "dump", out), makeArchive(h, "snapshot", out)
	h.Close()
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	pack(t, data, filepath.Join(to, "data.tar.zst"))
	for from, name := range map[string]string{dump: "data.dump", snapshot: "data.snapshot"} {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// pack writes a data directory, but for what is made anew, into one file.
func pack(t *testing.T, dir, to string) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(f)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		if err != nil || strings.HasPrefix(rel, "modules") || !d.Type().IsRegular() || rel == "parley.pid" {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.ToSlash(rel), Mode: 0o600, Size: int64(len(b))}); err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	if err = errors.Join(err, w.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// unpack makes the directory that pack wrote.
func unpack(t *testing.T, from, dir string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(head.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(name, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
