package e2e

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// TestFileModes wants whatever the host writes to be its user's alone, whatever
// the umask of whoever starts it: directories are 0700, files 0600. Only the
// libraries' own files may be readable, in directories that let nobody in.
func TestFileModes(t *testing.T) {
	t.Parallel()
	w := house.NewWire(t)
	dumps, snapshots, records := t.TempDir(), t.TempDir(), t.TempDir()
	h := house.Open(t, map[string]string{
		"dump-dir": filepath.Join(dumps, "d"), "snapshot-dir": filepath.Join(snapshots, "s"), "chat-record-dir": filepath.Join(records, "r"),
		"telemetry-file": filepath.Join(dumps, "telemetry.jsonl"),
	}, house.Shipped(t, "vllm"))
	h.AddFilms(50)
	h.Must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"apiKey":"sk-secret"}`, w.URL))
	h.Ask("x", "good")
	h.Finish(h.Must("POST", "/dumps", ""))
	h.Finish(h.Must("POST", "/snapshots", ""))
	h.Close()
	library := regexp.MustCompile(`/(badger|telemetry|indexes/[^/]+)/[^/]+$`)
	seen := 0
	for _, dir := range []string{h.Dir, filepath.Join(dumps, "d"), filepath.Join(snapshots, "s"), filepath.Join(records, "r"), filepath.Join(dumps, "telemetry.jsonl")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Type()&fs.ModeSymlink != 0 || path == h.Dir { // the test made both
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			seen++
			want, got := fs.FileMode(0o600), info.Mode().Perm()
			switch {
			case d.IsDir():
				want = 0o700
			case library.MatchString(path):
				got &^= 0o044
			}
			if got != want {
				t.Errorf("%s has the mode %o, want %o", path, got, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if seen < 20 {
		t.Errorf("%d files and directories, want those of a used host", seen)
	}
}
