package wasm

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero"
)

// A codeKey is what wazero calls the code of a module by: a sum of the module and of the
// processor's features.
type codeKey = [32]byte

// codeName is key as a head of an entry has it.
func codeName(key codeKey) string { return hex.EncodeToString(key[:]) }

// A codeStore is where wazero looks for the code of a module before it compiles it, and
// brings what it has compiled. It is an internal filecache.Cache of wazero's.
type codeStore struct {
	get func(codeKey) (io.ReadCloser, bool) // nil: it has none
	add func(codeKey, io.Reader) error      // nil: it drops what it is brought
}

// Get returns the code with that key, and whether there is one.
func (s *codeStore) Get(key codeKey) (io.ReadCloser, bool, error) {
	if s.get == nil {
		return nil, false, nil
	}
	code, ok := s.get(key)
	return code, ok, nil
}

// Add takes the code with that key.
func (s *codeStore) Add(key codeKey, code io.Reader) error {
	if s.add == nil {
		return nil
	}
	return s.add(key, code)
}

// Delete is told of code that is of another version of wazero.
func (s *codeStore) Delete(codeKey) error { return nil }

// storeField is the field of wazero's cache that holds its folder.
const storeField = "fileCache"

// newCodeCache returns a cache of wazero's that works with s, which is put into the field
// of that name. wazero itself offers no more than a folder: a file is written there, read
// into memory of wazero's own, and would have to be written again to be mapped.
func newCodeCache(field string, s *codeStore) (wazero.CompilationCache, error) {
	cache := wazero.NewCompilationCache()
	place := reflect.ValueOf(cache).Elem().FieldByName(field)
	if place.Kind() != reflect.Interface || !reflect.TypeOf(s).Implements(place.Type()) {
		return nil, fmt.Errorf("wazero %s has no place for a store of compiled code", wazeroVersion())
	}
	reflect.NewAt(place.Type(), place.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(s))
	return cache, nil
}

// A keptCode is an entry of a cache folder, open to be read. wazero reads its code.
type keptCode struct {
	head  packedHead
	shell []byte

	dir      string // for a file to map
	unpacked *bufio.Reader
	close    func()

	asked bool   // wazero has asked for it
	next  uint64 // what the last eight bytes said, as a number
	code  []byte // the machine code, mapped from a file; nil: read into memory of wazero's
}

// Read fills all of p. Where p is as long as the eight bytes before said, and begins a page,
// it is the place of the machine code: pages of their own, since they are to be run. A
// file is mapped over these. TestCodeMapped fails where that does not hold any more.
func (k *keptCode) Read(p []byte) (n int, err error) {
	if runsFiles && uint64(len(p)) == k.next && len(p) >= os.Getpagesize() && beginsPage(p) {
		if f, err := makeUnnamed(k.dir); err == nil {
			defer f.Close() // the mapping stays
			return k.readMapped(f, p)
		}
	}
	if n, err = io.ReadFull(k.unpacked, p); n == 8 {
		k.next = binary.LittleEndian.Uint64(p)
	} else {
		k.next = 0
	}
	return n, err
}

// readMapped is Read by way of the empty file f. Where that has no room, or the system does
// not let it be run, p is filled all the same.
func (k *keptCode) readMapped(f *os.File, p []byte) (int, error) {
	piece := make([]byte, min(64<<10, len(p)))
	for at := 0; at < len(p); {
		piece = piece[:min(len(piece), len(p)-at)]
		if _, err := io.ReadFull(k.unpacked, piece); err != nil {
			return 0, err
		}
		if _, err := f.WriteAt(piece, int64(at)); err != nil {
			if _, err := f.ReadAt(p[:at], 0); err != nil {
				return 0, err
			}
			if _, err := io.ReadFull(k.unpacked, p[at+copy(p[at:], piece):]); err != nil {
				return 0, err
			}
			return len(p), nil
		}
		at += len(piece)
	}
	if mapOver(p, f, true) == nil {
		k.code = p
		return len(p), nil
	}
	return f.ReadAt(p, 0)
}

func beginsPage(p []byte) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(p)))%uintptr(os.Getpagesize()) == 0
}

// wholly reports whether all of k was read, and is as it was packed.
func (k *keptCode) wholly() bool {
	_, err := k.unpacked.ReadByte()
	return err == io.EOF
}

// Close does nothing: whoever opened k closes it.
func (k *keptCode) Close() error { return nil }

// errNotTaken says that wazero has compiled a shell: what it made of that must not be run.
var errNotTaken = errors.New("wazero did not take it")

// give gives wazero the kept code that is offered under key.
func (r *Runtime) give(key codeKey) (io.ReadCloser, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.offered[codeName(key)]
	if k == nil {
		return nil, false
	}
	k.asked = true
	return k, true
}

// offer lets wazero have k.
func (r *Runtime) offer(k *keptCode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.offered[k.head.Entry] = k
}

// withdraw ends offer, and returns where the machine code lies that wazero took; nil
// where it is in memory of wazero's own. wazero asks for nothing that it has in memory from
// before: that it took code by this name once shows that it still goes by it.
func (r *Runtime) withdraw(k *keptCode) (code []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.offered, k.head.Entry)
	code, before := r.taken[k.head.Entry]
	switch {
	case k.asked && k.wholly():
		r.taken[k.head.Entry] = k.code
		return k.code, nil
	case !k.asked && before:
		return code, nil
	}
	return nil, errNotTaken
}
