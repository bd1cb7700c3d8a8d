package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// frozenModule compiles a guest of testdata and freezes it, with one instance
// unless l says more.
func frozenModule(t testing.TB, r *Runtime, name string, l Limits) *Module {
	t.Helper()
	bin, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	l.Instances = max(l.Instances, 1)
	m, err := r.Compile(t.Context(), name, bin, l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Number(t.Context(), Rehearsal, "parley_abi"); err != nil {
		t.Fatal(err)
	}
	if err := m.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

func openRuntime(t testing.TB, o Options) *Runtime {
	t.Helper()
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// ways are those that this system has.
func ways(t testing.TB) []way {
	t.Helper()
	m := frozenModule(t, openRuntime(t, Options{}), "thief", Limits{})
	s := m.snapshot()
	if s == nil {
		return nil
	}
	all := []way{wayNone}
	for w := wayRead; w <= s.way; w++ {
		all = append(all, w)
	}
	return all
}

// TestHostileBetweenTags has one answer put away what it was given in every way
// that a guest has, and another one look for it: it finds what it would if the
// first had never been.
func TestHostileBetweenTags(t *testing.T) {
	all := ways(t)
	if len(all) < 2 && os.Getenv("CI") != "" {
		t.Errorf("ways to find own pages: %v", all)
	}
	type system struct {
		name    string
		limiter Limiter
		way     way
	}
	systems := []system{{"unmetered", ContextDone(), wayNone}}
	for _, w := range all {
		systems = append(systems, system{fmt.Sprint("way ", w), Metered(), w})
	}
	const secret = "\x03SECRET!"
	long := secret + strings.Repeat("x", 70_000)
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			for _, tt := range []struct{ guest, ways string }{{"thief", "mpilfdgnas"}, {"thieftable", "sfcioedvr"}} {
				for _, letter := range tt.ways {
					r := openRuntime(t, Options{Limiter: s.limiter, CacheDir: t.TempDir(), Log: func(LogLine) {}})
					module := func() *Module {
						m := frozenModule(t, r, tt.guest, Limits{})
						if frozen := m.snapshot(); frozen != nil {
							frozen.way = s.way
						}
						return m
					}
					m, fresh := module(), module()
					say := func(m *Module, tag Tag, in string) string {
						out, err := m.call(t.Context(), Use{Tag: tag}, "parley_decode", []byte(in), nil, 1)
						return fmt.Sprintf("%q, %v", out, err)
					}
					what := secret
					if letter == 'a' {
						what = long
					}
					write, read := string(letter)+"w"+what, string(letter)+"r"
					a, b := NewTag(), NewTag()
					want := say(fresh, a, read)
					say(m, a, write)
					if kept := say(m, a, read); kept == want && letter != 's' {
						t.Errorf("%s %c: the same answer reads %s, as if nothing had been put away: the way is none", tt.guest, letter, kept)
					}
					say(m, a, write)
					if got := say(m, b, read); got != want {
						t.Errorf("%s %c: another answer reads %s, want %s", tt.guest, letter, got, want)
					}
					// Calls without a tag belong to none, not even to each other.
					say(m, 0, write)
					if got := say(m, 0, read); got != want {
						t.Errorf("%s %c: a call of no answer reads %s, want %s", tt.guest, letter, got, want)
					}
					st := m.Stats()
					if resets := tt.guest == "thief" && s.limiter == Metered() && all != nil; resets != (st.Resets > 0) || resets != (st.NoReset == "") {
						t.Errorf("%s %c: %d resets, %d renewals, %q", tt.guest, letter, st.Resets, st.Renewals, st.NoReset)
					} else if !resets && st.Renewals == 0 {
						t.Errorf("%s %c: neither reset nor renewed", tt.guest, letter)
					}
				}
			}
		})
	}
}

// TestSnapshotStart compares an instance that began as the snapshot with it, and
// what follows a fault with what came before.
func TestSnapshotStart(t *testing.T) {
	m := frozenModule(t, openRuntime(t, Options{CacheDir: t.TempDir()}), "thief", Limits{Room: 1 << 20})
	s := m.snapshot()
	if s == nil {
		t.Skip("this system has no snapshots")
	}
	for range 3 {
		i, err := m.start()
		if err != nil {
			t.Fatal(err)
		}
		if n := int(i.memory.Size()); n != 8*pageSize+1<<20 || n != len(s.memory) {
			t.Errorf("%d bytes of memory, want 8 pages and the room of 1 MiB", n)
		}
		if !bytes.Equal(i.linear.block[:i.memory.Size()], s.memory) {
			t.Error("the memory is not the snapshot's")
		}
		if got := i.globals[0].Get(); len(i.globals) != 4 || got != 7 {
			t.Errorf("%d globals, the first is %d, want 4 and 7, as _initialize left it", len(i.globals), got)
		}
		if i.capacity != inputRoom || i.region != 4096 {
			t.Errorf("the input region has %d bytes at %d, want %d at 4096", i.capacity, i.region, inputRoom)
		}
		i.close()
	}
}

// TestTagsKeepInstances shows which instance a call gets: that of its tag, one
// that serves no tag under way, a new one, or the one that was used last. Where
// there are as many instances as tags, none is reset; where there are fewer, all
// tags but one keep theirs.
func TestTagsKeepInstances(t *testing.T) {
	r := openRuntime(t, Options{CacheDir: t.TempDir()})
	synctest.Test(t, func(t *testing.T) {
		m := frozenModule(t, r, "thief", Limits{Instances: 1, Parked: 2, IdleAfter: time.Minute})
		defer m.Close()
		if m.snapshot() == nil {
			t.Skip("this system has no snapshots")
		}
		say := func(tag Tag) {
			t.Helper()
			if _, err := m.CallPure(t.Context(), Use{Tag: tag}, "parley_decode", []byte("mr"), nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // for the spare that is being started
		}
		a, b, c, d := NewTag(), NewTag(), NewTag(), NewTag()
		for range spareUses {
			say(a)
		}
		if s := m.Stats(); s.Resets != 0 || s.Instances != 2 {
			t.Errorf("one answer: %d resets, %d instances, want none and 2", s.Resets, s.Instances)
		}
		for range 5 {
			say(b)
			say(c)
			say(a)
		}
		if s := m.Stats(); s.Resets != 0 || s.Instances != 4 {
			t.Errorf("three answers in turns: %d resets, %d instances, want none and 4", s.Resets, s.Instances)
		}
		for step, tt := range []struct {
			tag    Tag
			resets int64
		}{{d, 1}, {b, 1}, {c, 1}, {d, 1}, {a, 2}, {b, 2}, {c, 2}, {d, 3}} { // a and d share one, then c's
			say(tt.tag)
			if s := m.Stats(); s.Resets != tt.resets || s.Renewals != 0 || s.Instances != 4 {
				t.Errorf("step %d, a fourth answer: %d resets, %d renewals, %d instances; want %d, none and 4", step, s.Resets, s.Renewals, s.Instances, tt.resets)
			}
		}
		m.Done(b)
		say(c) // in the place of b, which is over, and not of d
		say(d)
		if s := m.Stats(); s.Resets != 4 || s.Instances != 4 {
			t.Errorf("after one ended: %d resets, %d instances, want 4 and 4", s.Resets, s.Instances)
		}
		for range 2 { // what is not used is let go, for as long as something is
			time.Sleep(time.Minute)
			say(a)
		}
		time.Sleep(time.Minute - time.Second)
		if s := m.Stats(); s.Instances != 2 {
			t.Errorf("where one answer goes on: %d instances, want its own and a spare", s.Instances)
		}
	})
}

// TestNoSnapshot closes instances where no file can be had, and says why.
func TestNoSnapshot(t *testing.T) {
	r := openRuntime(t, Options{CacheDir: t.TempDir()})
	kept := r.dir
	r.dir = filepath.Join(kept, "gone")
	t.Setenv("TMPDIR", r.dir) // where it would go otherwise
	m := frozenModule(t, r, "thief", Limits{})
	r.dir = kept
	for range 3 {
		if out, err := m.Call(t.Context(), "parley_decode", []byte("mr"), nil); string(out) != "\x00\x00\x00\x00\x00\x00\x00\x00" || err != nil {
			t.Errorf("Call = %q, %v", out, err)
		}
		if _, err := m.Call(t.Context(), "parley_decode", []byte("mwSECRET!!"), nil); err != nil {
			t.Error(err)
		}
	}
	// The first call finds the instance of the rehearsal.
	if s := m.Stats(); s.Resets != 0 || s.Renewals != 6 || !strings.Contains(s.NoReset, "make a file of its memory: ") || s.Instances != 1 {
		t.Errorf("%d resets, %d renewals, %d instances, %q", s.Resets, s.Renewals, s.Instances, s.NoReset)
	}
}

// TestFreezeWithoutRoom freezes a guest that has no region as large as most calls want: it
// is reset as others are, and has no fault for it.
func TestFreezeWithoutRoom(t *testing.T) {
	m := frozenModule(t, openRuntime(t, Options{CacheDir: t.TempDir()}), "outside", Limits{Instances: 1})
	if m.snapshot() == nil {
		t.Skip("this system has no snapshots")
	}
	for range 3 {
		tag := NewTag()
		if out, err := m.CallPure(t.Context(), Use{Tag: tag}, "parley_decode", []byte("hello"), nil); string(out) != "hello" || err != nil {
			t.Errorf("Call = %q, %v", out, err)
		}
		m.Done(tag)
	}
	if s := m.Stats(); s.Resets != 3 || s.Renewals != 0 || len(s.Faults) != 0 || s.LastFault != nil {
		t.Errorf("%d resets, %d renewals, faults %v %v, want three resets alone", s.Resets, s.Renewals, s.Faults, s.LastFault)
	}
}

// TestRenewFails shows that a pool goes on where an instance that cannot be reset
// cannot be replaced either.
func TestRenewFails(t *testing.T) {
	m := frozenModule(t, openRuntime(t, Options{CacheDir: t.TempDir()}), "thieftable", Limits{})
	start, failure := m.pool.start, errors.New("no memory")
	m.pool.start = func() (*instance, error) { return nil, failure }
	for range 2 {
		if _, err := m.Call(t.Context(), "parley_decode", []byte("sr"), nil); !errors.Is(err, failure) {
			t.Errorf("Call: %v, want %v", err, failure)
		}
	}
	m.pool.start = start
	if _, err := m.Call(t.Context(), "parley_decode", []byte("sr"), nil); err != nil {
		t.Errorf("Call, once instances can be started again: %v", err)
	}
	if n := m.Stats().Instances; n != 1 {
		t.Errorf("%d instances, want 1", n)
	}
}

// TestOwnPages shows which pages of an instance stay its own: those that every few answers
// write to, and not those of one large answer. Each reset brings all bytes back.
func TestOwnPages(t *testing.T) {
	m := frozenModule(t, openRuntime(t, Options{CacheDir: t.TempDir()}), "thief", Limits{Room: 8 << 20})
	if m.snapshot() == nil || m.snapshot().way == wayNone {
		t.Skip("this system does not find own pages")
	}
	i, err := m.start()
	if err != nil {
		t.Fatal(err)
	}
	defer i.close()
	block, page := i.linear.block[:i.memory.Size()], os.Getpagesize()
	answer := func(first, pages int) {
		t.Helper()
		for n := first; n < first+pages; n++ {
			block[n*page+n] ^= 0xff
		}
		if _, ok := i.reset(); !ok || !bytes.Equal(block, i.snapshot.memory) {
			t.Fatal("the memory is not the snapshot's")
		}
	}
	own := func() (pages int) {
		for at := 0; at < len(block); {
			runs, next, err := i.own.find(i.snapshot.way, block, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range runs {
				pages += (r.end - r.begin) / page
			}
			at = next
		}
		return pages
	}
	for range 50 {
		answer(0, 40)
		answer(20, 60)
		answer(20, 60)
	}
	if n := own(); n != 80 {
		t.Errorf("after answers that write to pages in turns: %d own, want 80", n)
	}
	answer(0, 600)
	for range 20 {
		answer(0, 40)
	}
	if n := own(); n != 40 {
		t.Errorf("after a large answer and small ones: %d own, want 40", n)
	}
}
