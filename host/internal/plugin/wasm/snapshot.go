package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"
)

// A snapshot is what instances of a module begin as and are brought back to: a
// memory, in a file without a name, and all else that calls may change. An
// instance maps the file, so it has of its own only the pages that it writes to.
type snapshot struct {
	file    *os.File
	memory  []byte // of the file, mapped to be read
	way     way    // in which an instance's own pages are found
	globals []uint64

	region, capacity uint32    // see instance
	started          time.Time // of the instance that it was taken of
}

// freeze takes a snapshot of i, which lies upon it from then on. An error says
// why there can be none.
func (i *instance) freeze() (_ *snapshot, err error) {
	if other := i.module.state.Other; other != "" {
		return nil, fmt.Errorf("it may keep %s", other)
	}
	block := i.linear.block[:i.memory.Size()]
	s := &snapshot{globals: make([]uint64, len(i.globals)), region: i.region, capacity: i.capacity, started: i.started}
	for n, g := range i.globals {
		s.globals[n] = g.Get()
	}
	if s.file, err = makeUnnamed(i.module.runtime.dir); err != nil {
		return nil, fmt.Errorf("make a file of its memory: %w", err)
	}
	written, err := writeSparse(s.file, block)
	if err == nil {
		s.memory, err = mapFile(s.file, len(block))
	}
	for _, r := range written {
		if err == nil && !bytes.Equal(s.memory[r.begin:r.end], block[r.begin:r.end]) {
			err = errors.New("the file does not hold what was written")
		}
	}
	if err == nil {
		err = mapOver(block, s.file, false)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map a file of its memory: %w", err), s.close())
	}
	unload(s.memory) // what was written was read, and resets read little
	at := 0
	if len(written) > 0 {
		at = written[0].begin // the system has it in memory: others it would read ahead from
	}
	s.way = wayFor(block, at)
	i.snapshot = s
	return s, nil
}

func (s *snapshot) close() error {
	release(s.memory)
	return s.file.Close()
}

// writeSparse writes b to f, which is empty, but for its pages of zeroes, and returns
// what it wrote.
func writeSparse(f *os.File, b []byte) (written []run, err error) {
	if err := f.Truncate(int64(len(b))); err != nil {
		return nil, err
	}
	var zeroes [4 << 10]byte
	for at := 0; at < len(b); {
		end := min(at+len(zeroes), len(b))
		if page := b[at:end]; bytes.Equal(page, zeroes[:len(page)]) {
			at = end
			continue
		}
		if n := len(written); n > 0 && written[n-1].end == at {
			written[n-1].end = end
		} else {
			written = append(written, run{at, end})
		}
		at = end
	}
	for _, r := range written {
		if _, err := f.WriteAt(b[r.begin:r.end], int64(r.begin)); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// Bounds of what a reset copies. Pages that an instance once wrote to stay its
// own: encode leaves a hundred that the resets of decode would compare each time.
const (
	// maxOwnPages are the most that are looked at one by one.
	maxOwnPages = 1024
	// maxIdle is how many resets in a row may find an own page as it should be: of the
	// calls of answers each writes to pages of its own.
	maxIdle = 4
	// maxUnchanged is how many pages more are found so, over several resets, before an
	// instance gives up all of its own. To compare so many takes about as long as to
	// make them its own again.
	maxUnchanged = 512
)

// reset brings i back to its snapshot; false says that it cannot be. pages is
// how many were not what they should be.
func (i *instance) reset() (pages int, ok bool) {
	s := i.snapshot
	if s == nil || int(i.memory.Size()) != len(s.memory) || i.api.IsClosed() {
		return 0, false
	}
	pages, err := i.restore(i.linear.block[:len(s.memory)])
	if err != nil {
		return 0, false
	}
	for n, g := range i.globals {
		g.Set(s.globals[n])
	}
	i.region, i.capacity = s.region, s.capacity
	return pages, true
}

// restore brings block, the memory of i, back to the snapshot's.
func (i *instance) restore(block []byte) (pages int, err error) {
	s, own, page := i.snapshot, 0, os.Getpagesize()
	if i.idle == nil {
		i.idle = make([]uint8, len(block)/page)
	}
	for at := 0; s.way != wayNone && own <= maxOwnPages; {
		if at >= len(block) {
			if i.unchanged <= maxUnchanged {
				return pages, nil
			}
			break
		}
		runs, next, err := i.own.find(s.way, block, at)
		if err != nil {
			break
		}
		for _, r := range runs {
			for at := r.begin; at < r.end; at += page {
				own++
				idle := &i.idle[at/page]
				if !bytes.Equal(block[at:at+page], s.memory[at:at+page]) {
					copy(block[at:at+page], s.memory[at:])
					pages++
					*idle = 0
				} else if *idle < maxIdle {
					*idle++
				} else {
					i.unchanged++
				}
			}
		}
		at = next
	}
	i.unchanged = 0
	clear(i.idle)
	return pages, discard(block, s.file)
}

// A run is a stretch of whole pages, counted in bytes from a block's beginning.
type run struct{ begin, end int }

// A way is one of finding the pages of a mapped file that are not the file's any
// more.
type way int

const (
	wayNone way = iota // none: the file is mapped anew
	wayRead            // reading what the system says of each page
	wayScan            // having it tell those alone
)

// wayFor returns the quickest way that finds the page of block with the byte at, which it
// writes to, and not all pages. Systems differ, and so does what they allow.
func wayFor(block []byte, at int) way {
	block[at] = touch(block[at])
	begin := at - at%os.Getpagesize()
	var own ownPages
	for _, w := range []way{wayScan, wayRead} {
		runs, next, err := own.find(w, block, 0)
		if err == nil && len(runs) == 1 && runs[0] == (run{begin, begin + os.Getpagesize()}) && next >= len(block) {
			return w
		}
	}
	return wayNone
}

// touch returns b, which the compiler does not know.
//
//go:noinline
func touch(b byte) byte { return b }
