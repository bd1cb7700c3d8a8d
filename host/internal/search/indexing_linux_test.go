package search_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
)

// TestIndexingFigures reports what indexing costs: documents a second of
// processor time, the memory that it takes at most over what was there before,
// and the bytes on disk. It fails only where documents are missing.
func TestIndexingFigures(t *testing.T) {
	for _, c := range []struct {
		name   string
		body   func(testing.TB) []byte
		memory int64
	}{
		{"movies", func(tb testing.TB) []byte { return movies(tb) }, 0},
		{"a third of WordNet", func(tb testing.TB) []byte { return wordNet(tb, 3) }, 0},
		{"WordNet", func(tb testing.TB) []byte { return wordNet(tb, 1) }, 0},
		{"a third of WordNet, 64 MiB", func(tb testing.TB) []byte { return wordNet(tb, 3) }, 64 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := c.body(t)
			var docs []json.RawMessage
			if err := json.Unmarshal(body, &docs); err != nil {
				t.Fatal(err)
			}
			n := len(docs)
			docs = nil
			r := &rig{tb: t, dir: t.TempDir(), memory: c.memory}
			r.open()
			defer r.close()
			r.settings("a", `{"searchableAttributes":["title","overview","definition"],"filterableAttributes":["kind","genres"]}`)
			debug.FreeOSMemory()
			before, start := residentPeak(t), cpu(t)
			r.add("a", string(body))
			took, peak := cpu(t)-start, residentNow(t, "VmHWM")
			st, err := r.svc.Stats(auth.Everyone(), "a")
			if err != nil || st.NumberOfDocuments != n {
				t.Fatalf("%d documents, %v; want %d", st.NumberOfDocuments, err, n)
			}
			t.Logf("%d documents of %d bytes: %.0f a second of processor time, at most %d MiB more than before, index %.2f and documents %.2f times their JSON; %d processors",
				n, len(body)/n, float64(n)/took.Seconds(), max(peak-before, 0)>>20,
				float64(bytesBelow(t, r.folders()))/float64(len(body)), float64(st.DocumentBytes)/float64(len(body)), runtime.GOMAXPROCS(0))
		})
	}
}

// residentPeak begins a new count of the most memory that the process has, and
// returns what it has now.
func residentPeak(t *testing.T) int64 {
	t.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skip("this kernel cannot reset the peak memory of a process: ", err)
	}
	return residentNow(t, "VmRSS")
}

// residentNow reads a figure of /proc/self/status, in bytes.
func residentNow(t *testing.T, name string) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.Fields(v)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatalf("no %s in /proc/self/status", name)
	return 0
}

func bytesBelow(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
