package wasm

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
)

// A cache folder keeps each compiled module in a file of its own, packed, which
// hosts of one user share. wazero reads of it what it would find in a file of its own:
// see codeStore. What is mapped lies in files without a name.

// Bounds of a cache folder, looked at when it is opened.
const (
	maxCache   = 512 << 20           // bytes; a Go plugin takes about 2 MiB
	maxUnused  = 60 * 24 * time.Hour // of an entry, which can be made anew
	staleAfter = 24 * time.Hour      // of what a process left that was ended
)

// The beginnings of names in a cache folder.
const (
	packedPrefix  = "module-"
	markPrefix    = "compiled-" // of an empty file: the cache has a library, see [CompileLibrary]
	scratchPrefix = "run-"
)

// openCache makes dir ready to be a cache folder. Whoever can write to it can run
// code as us, so it is ours alone.
func openCache(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if err := checkOwner(info); err != nil {
		return fmt.Errorf("use %s: %w", dir, err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return err
		}
	}
	return boundCache(dir, maxCache, time.Now())
}

// boundCache removes what was not used for long, and of the rest the oldest until
// limit bytes are left.
func boundCache(dir string, limit int64, now time.Time) error {
	stale, err := sysinfo.Glob(dir, scratchPrefix+"*")
	if err != nil {
		return err
	}
	for _, path := range stale {
		if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) > staleAfter {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	kept, err := ListCache(dir)
	if err != nil {
		return err
	}
	for _, k := range kept { // the last used first
		if limit -= k.Size; limit < 0 || now.Sub(k.Used) > maxUnused {
			if err := k.remove(); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Kept is a compiled module in a cache folder.
type Kept struct {
	Module string    `json:"module"` // what it was called when it was compiled
	Size   int64     `json:"size"`   // bytes on disk
	Used   time.Time `json:"used"`

	path string
}

// libraryModule is what the modules of [LibraryConfig] are called.
const libraryModule = "library of the host"

// packedName is the first line of a packed entry. What follows it is compressed: a
// packedHead, also a line, the module's shell, and the code in wazero's form.
type packedName struct {
	Module string `json:"module"`
}

type packedHead struct {
	Key   string `json:"key"`   // under which it is kept: of no other module
	Entry string `json:"entry"` // the name by which wazero asks for the code
	Shell int    `json:"shell"` // bytes
	recast
}

// ListCache returns what the cache folder dir keeps, the last used first; nothing
// where there is no such folder.
func ListCache(dir string) ([]Kept, error) {
	var paths []string
	for _, pattern := range []string{packedPrefix + "*", "wazero-*/*"} { // of modules; of [LibraryConfig]
		found, err := sysinfo.Glob(dir, pattern)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	kept := make([]Kept, 0, len(paths))
	for _, path := range paths {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		} else if err != nil {
			return nil, err
		}
		k := Kept{Size: info.Size(), Used: info.ModTime(), path: path}
		if !strings.HasPrefix(filepath.Base(path), packedPrefix) {
			k.Module = libraryModule
		} else if f, err := os.Open(path); err == nil {
			var name packedName
			_ = readLine(bufio.NewReader(f), &name) // a damaged entry has none
			k.Module = name.Module
			_ = f.Close() // it was only read
		}
		kept = append(kept, k)
	}
	slices.SortStableFunc(kept, func(a, b Kept) int { return b.Used.Compare(a.Used) })
	return kept, nil
}

// CleanCache removes from the cache folder dir what was not used for so long, and
// returns what that was. A host that runs on it goes on, and compiles anew what
// it loads next.
func CleanCache(dir string, unused time.Duration) ([]Kept, error) {
	kept, err := ListCache(dir)
	if err != nil {
		return nil, err
	}
	var removed []Kept
	for _, k := range kept {
		if time.Since(k.Used) < unused {
			continue
		}
		if err := k.remove(); err != nil {
			return removed, err
		}
		removed = append(removed, k)
	}
	return removed, nil
}

// remove removes k, and with a library's the marks that say it is there.
func (k *Kept) remove() error {
	if err := removeFile(k.path); err != nil || k.Module != libraryModule {
		return err
	}
	marks, err := sysinfo.Glob(filepath.Dir(filepath.Dir(k.path)), markPrefix+"*")
	for _, m := range marks {
		err = errors.Join(err, removeFile(m))
	}
	return err
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readLine reads the next line of r, which is JSON, into v.
func readLine(r *bufio.Reader, v any) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}

// pack writes the file path for the module of that name, with head, shell and code.
func pack(path, module string, head packedHead, shell []byte, code io.Reader) (err error) {
	to, err := os.CreateTemp(filepath.Dir(path), scratchPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to.Name()))
		}
	}()
	name, err := json.Marshal(packedName{module})
	if err == nil {
		_, err = to.Write(append(name, '\n'))
	}
	line, err2 := json.Marshal(head)
	if err = errors.Join(err, err2); err == nil {
		err = compress(to, io.MultiReader(bytes.NewReader(append(line, '\n')), bytes.NewReader(shell), code))
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return os.Rename(to.Name(), path)
}

func compress(to io.Writer, from io.Reader) error {
	z, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packedWindow))
	if err != nil {
		return err
	}
	_, err = io.Copy(z, from)
	return errors.Join(err, z.Close())
}

// packedWindow is how far back an entry refers to itself. Whoever unpacks it holds
// as much.
const packedWindow = 1 << 20

// unpacker returns what reads packed: that of an entry before, if there is one.
func (r *Runtime) unpacker(packed io.Reader) (*zstd.Decoder, error) {
	if z, ok := r.unpackers.Get().(*zstd.Decoder); ok {
		return z, z.Reset(packed)
	}
	// At a concurrency of 1 it has no goroutines, and needs no Close.
	return zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxAside))
}

// openKept opens the entry with that key. An error is [fs.ErrNotExist] where nothing is kept.
func (r *Runtime) openKept(key string) (_ *keptCode, err error) {
	path := r.packed(key)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var z *zstd.Decoder
	k := &keptCode{dir: r.dir, close: func() {
		if z != nil {
			_ = z.Reset(nil) // it holds the file, and never fails with none
			r.unpackers.Put(z)
		}
		_ = f.Close() // it was only read
	}}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	packed := bufio.NewReader(f)
	if err := readLine(packed, &packedName{}); err != nil {
		return nil, err
	}
	if z, err = r.unpacker(packed); err != nil {
		return nil, err
	}
	k.unpacked = bufio.NewReader(z)
	if err := readLine(k.unpacked, &k.head); err != nil {
		return nil, err
	}
	if k.head.Key != key {
		return nil, errors.New("it is of another module")
	}
	if len(k.head.Entry) != hex.EncodedLen(len(codeKey{})) || k.head.Shell < 0 || k.head.Shell > maxAside {
		return nil, errors.New("it names no code, or a shell of no size that one may have")
	}
	k.shell = make([]byte, k.head.Shell)
	if _, err := io.ReadFull(k.unpacked, k.shell); err != nil {
		return nil, err
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // else it looks unused, and is made anew some day
	return k, nil
}

// packed is the file that keeps what has that key.
func (r *Runtime) packed(key string) string { return filepath.Join(r.dir, packedPrefix+key) }

// known reports whether the cache holds what has that key.
func (r *Runtime) known(key string) bool {
	_, err := os.Lstat(r.packed(key))
	return err == nil
}

// key names what r compiles code of that sum to, among all files of a cache.
func (r *Runtime) key(sum string) string {
	return fmt.Sprintf("%s-%s-%s-%s-%s-%s-%s", r.engine.limiter, codeForm(), wazeroVersion(), runtime.GOARCH, runtime.GOOS, r.machine, sum)
}

// wazeroVersion is what keeps the code that one version made from another.
func wazeroVersion() string { return filepath.Base(moduleVersion("github.com/tetratelabs/wazero")) }

// moduleVersion is the version of a module that this program is built of, "unknown" where it cannot tell.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == path {
				return d.Version
			}
		}
	}
	return "unknown"
}
