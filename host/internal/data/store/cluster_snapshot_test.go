package store

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/search/storage"
)

// TestClusterSnapshot: what is restored is what was, and the node keeps its name;
// a snapshot that is cut off or something else changes nothing.
func TestClusterSnapshot(t *testing.T) {
	g := join(t, 2, openDisk)
	must(t, g.stores[0].Write(storage.Change{IndexUID: "a", Meta: []byte("{}"), Docs: "x", Task: 3, Put: documents(300)}))
	large := storage.Document{ID: "large", Seq: 1, Body: bytes.Repeat([]byte("large "), 1<<19)}
	must(t, g.stores[0].Write(storage.Change{Docs: "x", Task: 3, Part: 1, Put: []storage.Document{large}}))
	g.level()
	want := g.stores[1].records(t)
	var b bytes.Buffer
	var at cluster.Position
	must(t, g.stores[1].WriteSnapshot(func(p cluster.Position, write func(io.Writer) error) error {
		at = p
		return write(&b)
	}))
	if p, err := g.stores[1].Position(); err != nil || p != at || at.Seq < 3 {
		t.Errorf("the snapshot is of %+v, the node at %+v, %v", at, p, err)
	}

	dir := t.TempDir()
	open := func() *Store {
		s, err := OpenShared(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	id, err := s.NodeID()
	must(t, err)
	must(t, s.Close())
	whole := b.Bytes()
	for name, wrong := range map[string]io.Reader{
		"empty":      strings.NewReader(""),
		"cut off":    bytes.NewReader(whole[:len(whole)-1]),
		"half":       bytes.NewReader(whole[:len(whole)/2]),
		"else":       strings.NewReader(strings.Repeat("something else ", 100)),
		"and more":   io.MultiReader(bytes.NewReader(whole), strings.NewReader("x")),
		"other head": bytes.NewReader(bytes.Replace(whole, []byte("snapshot 1"), []byte("snapshot 2"), 1)),
	} {
		if _, err := RestoreSnapshot(dir, wrong); err == nil {
			t.Errorf("a snapshot that is %s is restored", name)
		}
	}
	s = open()
	if p, err := s.Position(); err != nil || p.Seq != 0 {
		t.Errorf("after refused snapshots the node is at %+v, %v", p, err)
	}
	if _, err := RestoreSnapshot(dir, bytes.NewReader(whole)); err == nil {
		t.Error("a snapshot is restored below an open database")
	}
	must(t, s.Close())

	for range 2 { // the second time over what the first one made
		p, err := RestoreSnapshot(dir, bytes.NewReader(whole))
		if err != nil || p != at {
			t.Fatalf("restored to %+v, %v; want %+v", p, err, at)
		}
	}
	s = open()
	defer s.Close()
	if got := s.records(t); strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) < 300 {
		t.Errorf("%d records are restored, %d were there, and they differ or are few", len(got), len(want))
	}
	if got, err := s.NodeID(); err != nil || got != id {
		t.Errorf("the node's name is %q, %v; it was %q", got, err, id)
	}

	must(t, s.PutWordsFolder("x", "folder", 7))
	must(t, s.ResetLog(42))
	p, err := s.Position()
	if want := (cluster.Position{Log: 42, Term: at.Term, Chain: at.Chain, Leader: cluster.Claim{Format: cluster.Format}}); err != nil || p != want {
		t.Errorf("after a reset the node is at %+v, %v; want %+v", p, err, want)
	}
	if name, _, err := s.WordsFolder("x"); err != nil || name != "" {
		t.Errorf("after a reset the words are in %q, %v; want none, which are counted by the old log", name, err)
	}
}
