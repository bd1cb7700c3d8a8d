package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/waittest"
)

// TestClusterMoves does with data directories what operators of clusters do: all nodes get new
// addresses at once, the leader loses its directory, and one directory is copied for another
// node. Each time all go on, and of two nodes with one id one says so.
func TestClusterMoves(t *testing.T) {
	t.Parallel()
	w := openTown(t, 3, 1)
	w.write(1)
	w.level()
	var dirs []string
	for i, h := range w.houses {
		dirs = append(dirs, h.Dir)
		h.Close()
		w.houses[i] = nil
	}
	for i, dir := range dirs { // each listens on another port now
		w.houses[i] = w.open(dir)
	}
	w.leader()
	w.write(2)
	w.level()

	gone := w.leader()
	w.houses[gone].Close()
	w.houses[gone] = nil
	if err := os.RemoveAll(dirs[gone]); err != nil {
		t.Fatal(err)
	}
	w.write(3)
	w.houses[gone] = w.open(dirs[gone])
	w.write(4)
	w.level()
	w.equal("POST", "/indexes/a/search", `{"limit":100}`)

	from := (w.leader() + 1) % 3
	w.houses[from].Close()
	copied := filepath.Join(t.TempDir(), "copied")
	if err := os.CopyFS(copied, os.DirFS(dirs[from])); err != nil {
		t.Fatal(err)
	}
	w.houses[from] = w.open(dirs[from])
	w.houses = append(w.houses, w.open(copied))
	waittest.For(t, "the node that was copied says so", func() bool {
		return strings.Contains(w.houses[from].Must("GET", "/cluster", "").Body, "is a copy of the other's")
	})
	for n := range 5 {
		w.write(10 + n)
	}
	t.Logf("term %d", w.see(w.houses[0]).Node.Term)
	w.level()
	w.equal("POST", "/indexes/a/search", `{"limit":100}`)
}
