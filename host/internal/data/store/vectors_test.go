package store

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/parley-search/parley/host/internal/search/storage"
)

func TestVectors(t *testing.T) {
	s, err := OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	write := func(c storage.Change) {
		t.Helper()
		if err := s.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	scan := func(docs string, set uint32) (ids []string) {
		t.Helper()
		if err := s.ScanVectors(t.Context(), docs, set, func(id string, v []byte) error {
			ids = append(ids, id+"="+string(v))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	// 47 is the slash that divides a key: a set may well be called so.
	for _, set := range []uint32{1, 47, 0x2f2f2f2f} {
		write(storage.Change{Docs: "a", Vectors: []storage.StoredVectors{{Set: set, ID: "x", Bytes: []byte("1")}, {Set: set, ID: "y", Bytes: []byte("2")}}})
	}
	write(storage.Change{Docs: "b", Vectors: []storage.StoredVectors{{Set: 1, ID: "x", Bytes: []byte("other")}}})
	write(storage.Change{Docs: "a", Vectors: []storage.StoredVectors{{Set: 1, ID: "x"}, {Set: 1, ID: "absent"}}})

	if got, want := scan("a", 1), []string{"y=2"}; !slices.Equal(got, want) {
		t.Errorf("ScanVectors = %q, want %q", got, want)
	}
	if got, want := scan("a", 47), []string{"x=1", "y=2"}; !slices.Equal(got, want) {
		t.Errorf("ScanVectors = %q, want %q", got, want)
	}
	got, err := s.Vectors("a", 1, []string{"x", "y"})
	if err != nil || got[0] != nil || string(got[1]) != "2" {
		t.Errorf("Vectors = %q, %v; want none and 2", got, err)
	}
	stop := errors.New("enough")
	if err := s.ScanVectors(t.Context(), "a", 47, func(string, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("ScanVectors of a function that stops = %v, want its error", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.ScanVectors(ended, "a", 47, func(string, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("ScanVectors under an ended context = %v", err)
	}

	if err := s.DropVectors("a", 47); err != nil {
		t.Fatal(err)
	}
	if got := scan("a", 47); got != nil {
		t.Errorf("after DropVectors, ScanVectors = %q", got)
	}
	if got := scan("a", 0x2f2f2f2f); len(got) != 2 {
		t.Errorf("DropVectors took of another set: %q left", got)
	}
	if err := s.Sweep(func(docs string) bool { return docs == "b" }); err != nil {
		t.Fatal(err)
	}
	if a, b := scan("a", 1), scan("b", 1); a != nil || len(b) != 1 {
		t.Errorf("after Sweep, %q of the unknown and %q of the known are left", a, b)
	}
}
