//go:build unix

package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/cluster"
)

// nextFormat builds the program of a version to come: this checkout's, with one more format of
// records, in which all bits of the data are the other way round.
func nextFormat(t *testing.T, dir string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", "internal", "cluster", "record.go"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, change := range [][2]string{
		{"\nconst Format = 2\n", "\nconst Format = 3\n"},
		{"append(b, r.Data...)", "append(b, turn(r.Format, r.Data)...)"},
		{"field(5), body[headLen:]}, nil", "field(5), turn(b[0], body[headLen:])}, nil"},
	} {
		if strings.Count(text, change[0]) != 1 {
			t.Fatalf("%s does not have %q once: say here how records are written now", file, change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	text += "\nfunc turn(format byte, data []byte) (out []byte) {\n\tif format < 3 {\n\t\treturn data\n\t}\n\tfor _, b := range data {\n\t\tout = append(out, ^b)\n\t}\n\treturn out\n}\n"
	changed, overlay := filepath.Join(dir, "record.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{changed: []byte(text), overlay: list} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return build(t, dir, "next", "../../cmd/parley", "-overlay", overlay)
}

// TestClusterFormats upgrades the nodes of a cluster one after another to a version with another
// format of records, while clients write, search and chat. The log stays in the one that all
// read until somebody asks for the other, which is refused before all can read it. Then a node
// that goes back halts, with its data or without, and the others go on.
func TestClusterFormats(t *testing.T) {
	if !house.Long() {
		t.Skip("builds a program and runs six processes: LONG=1 runs it")
	}
	s := openStorm(t, stormWishes{seed: 2})
	next := nextFormat(t, t.TempDir())
	s.begin(2)
	run := func(node int, program string) {
		s.nodes[node].signal(syscall.SIGTERM)
		s.nodes[node].program = program
		s.nodes[node].start()
	}
	moreWrites := func() {
		t.Helper()
		n := s.count()
		waittest.For(t, "writes are taken", func() bool { return s.count() > n+50 })
	}
	formats := func(node int) (log, reads int) {
		_, b, _ := s.call(node, "GET", "/cluster", "")
		var c struct {
			Format int
			Node   struct{ Format int }
		}
		_ = json.Unmarshal(b, &c) // no answer is no format
		return c.Format, c.Node.Format
	}
	lead := func(want func(node int) bool) {
		t.Helper()
		waittest.For(t, "another node leads", func() bool {
			at := s.leader()
			if !want(at) {
				_, _, _ = s.call(at, "POST", "/cluster/resign", "") // again, where it fails
			}
			return want(at)
		})
	}

	last := s.leader()
	for i := range s.nodes {
		if i == last {
			continue
		}
		s.hit(i)
		run(i, next)
		s.ready(i)
		moreWrites()
		if log, reads := formats(i); log != cluster.Format || reads != cluster.Format+1 {
			t.Errorf("node %d is in a log of format %d, and reads %d", i, log, reads)
		}
	}
	lead(func(node int) bool { return node != last }) // one that could write the next format
	moreWrites()
	refused := false
	waittest.For(t, "the upgrade is refused", func() bool {
		status, b, _ := s.call(last, "POST", "/cluster/upgrade", "")
		refused = status == http.StatusConflict && strings.Contains(string(b), "cluster_node_too_old")
		return status != http.StatusServiceUnavailable && status != 0
	})
	if log, _ := formats(last); !refused || log != cluster.Format {
		t.Errorf("upgraded while node %d reads less: refused %v, the log has format %d", last, refused, log)
	}
	s.ready(last) // it still follows
	s.hit(last)
	run(last, next)
	s.ready(last)
	moreWrites()
	waittest.For(t, "the log is in the next format", func() bool {
		status, b, _ := s.call(0, "POST", "/cluster/upgrade", "")
		var done struct{ To int }
		return status == http.StatusOK && json.Unmarshal(b, &done) == nil && done.To == cluster.Format+1
	})
	moreWrites()
	for i := range s.nodes {
		waittest.For(t, "a node follows in the next format", func() bool { log, _ := formats(i); return log == cluster.Format+1 })
	}

	back := (s.leader() + 1) % len(s.nodes)
	halts := func() {
		t.Helper()
		waittest.For(t, "the node that went back halts", func() bool {
			_, b, _ := s.call(back, "GET", "/cluster", "")
			return strings.Contains(string(b), "needs a newer version of Parley")
		})
		if status, b, err := s.call(back, "GET", "/ready", ""); status != http.StatusServiceUnavailable {
			t.Errorf("its /ready: %d %s %v", status, b, err)
		}
		if status, b, err := s.call(back, "GET", "/health", ""); status != http.StatusOK {
			t.Errorf("its /health: %d %s %v, want no new start, which would not help", status, b, err)
		}
		moreWrites()
	}
	s.hit(back)
	run(back, s.program)
	halts()
	s.nodes[back].signal(syscall.SIGTERM)
	if err := os.RemoveAll(filepath.Join(s.dirs[back], "badger")); err != nil {
		t.Fatal(err)
	}
	s.nodes[back].start()
	halts()
	run(back, next)
	s.ready(back)
	moreWrites()
	s.calm()
	s.check()
	t.Logf("%d writes acknowledged; of nodes that nobody hit meanwhile: %d searches answered, %d failed; %d chats written to their end, %d broken off",
		s.count(), s.seen.answered.Load(), s.seen.failed.Load(), s.seen.written.Load(), s.seen.cut.Load())
}
