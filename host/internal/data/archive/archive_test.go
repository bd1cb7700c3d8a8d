package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var head = Head{Kind: Dump, Version: "1.2.3", Data: "1", CreatedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}

// content are streams of all lengths.
func content() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3*maxPiece+17)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	return map[string][]byte{"empty": nil, "short": []byte("abc"), "even": noise[:2*maxPiece], "long": noise, "folder/name.with.dots": []byte("x")}
}

var order = []string{"short", "empty", "long", "folder/name.with.dots", "even"}

func create(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made", "a.dump")
	streams := content()
	err := Create(path, head, func(w *Writer) error {
		for _, name := range order {
			err := w.Stream(name, func(to io.Writer) error {
				for b := streams[name]; len(b) > 0; {
					n := min(len(b), 100_003)
					if _, err := to.Write(b[:n]); err != nil {
						return err
					}
					b = b[n:]
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRoundTrip(t *testing.T) {
	path := create(t)
	var names []string
	streams := content()
	h, err := Read(path, func(name string, r io.Reader) error {
		names = append(names, name)
		b, err := io.ReadAll(r)
		if !bytes.Equal(b, streams[name]) {
			t.Errorf("%s has %d bytes, want the %d that were written", name, len(b), len(streams[name]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(names) != fmt.Sprint(order) {
		t.Errorf("streams = %v, want %v", names, order)
	}
	want := head
	want.Form = Form
	if *h != want {
		t.Errorf("head = %+v, want %+v", *h, want)
	}
	c, err := Check(path)
	if err != nil || len(c.Streams) != len(order) || c.Streams[2] != (Stream{"long", 3*maxPiece + 17}) {
		t.Errorf("Check = %+v, %v", c, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
}

// What each leaves unread is skipped, and still part of the sum.
func TestSkip(t *testing.T) {
	n := 0
	if _, err := Read(create(t), func(string, io.Reader) error { n++; return nil }); err != nil || n != len(order) {
		t.Errorf("%d streams, %v, want %d", n, err, len(order))
	}
}

// Every cut and a bit turned anywhere is found.
func TestDamage(t *testing.T) {
	path := create(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 60 {
		b := bytes.Clone(whole)
		at := r.IntN(len(b))
		what := "cut"
		if i%2 == 0 {
			b = b[:at]
		} else {
			b[at] ^= 1 << r.IntN(8)
			what = "turned"
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Check(path); err == nil {
			t.Errorf("%s at %d of %d: taken for whole", what, at, len(whole))
		}
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no archive ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(text); err == nil || !strings.Contains(err.Error(), "not an archive") {
		t.Errorf("Check of a text = %v", err)
	}
	if _, err := Check(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Check of nothing = %v", err)
	}
	newer := filepath.Join(dir, "newer")
	f, err := os.Create(newer)
	if err != nil {
		t.Fatal(err)
	}
	h := head
	h.Form, h.Version = 2, "9.0.0"
	if err := errors.Join(write(f, h, func(*Writer) error { return nil }), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(newer); err == nil || !strings.Contains(err.Error(), "form 2") || !strings.Contains(err.Error(), "9.0.0") {
		t.Errorf("Check of a newer form = %v", err)
	}
}

// A writing that fails leaves what was there, and nothing beside it.
func TestFailure(t *testing.T) {
	path := create(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err = Create(path, head, func(w *Writer) error {
		return w.Stream("a", func(to io.Writer) error {
			_, _ = to.Write(make([]byte, 2*maxPiece))
			return broken
		})
	})
	if !errors.Is(err, broken) {
		t.Errorf("Create = %v, want what its filling said", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the archive of before changed: %v", err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
