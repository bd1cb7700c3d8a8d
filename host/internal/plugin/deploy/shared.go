package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-search/parley/host/internal/plugin"
)

// sharedFile marks a plugin directory whose node of a cluster takes its plugins from
// the cluster's log, and holds the cluster's name.
const sharedFile = ".parley-cluster"

// errShared refuses a change by anybody but the node.
func (d Dir) errShared(cluster string) error {
	return fmt.Errorf("plugin directory %s is that of a node of cluster %s, where all nodes run the same plugins: change them by the console or by POST /plugins/install, pin or rollback of any node. Nothing was changed", d.Path, cluster)
}

// sharedBy returns which cluster says what lies in d; empty: none.
func (d Dir) sharedBy() string {
	b, err := readBounded(filepath.Join(d.Path, sharedFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// A SharedModule is a pinned version of a plugin. Read returns what its file and that
// of its signature hold, and fails where they are not what the lock pins.
type SharedModule struct {
	SHA256 string
	Read   func() (module, signature []byte, err error)
}

// Shared returns the lock of d, and calls f for each module that it pins.
func (d Dir) Shared(embedded [][]byte, f func(SharedModule) error) (lock []byte, err error) {
	l, _, err := d.load(embedded)
	if err != nil {
		return nil, err
	}
	for name, e := range l.Plugins {
		for version, pin := range e.Pinned {
			err := f(SharedModule{pin.SHA256, func() (module, signature []byte, err error) {
				if module, err = d.read(name, version, pin); err == nil {
					signature, err = readSignature(d.file(name, version))
				}
				return module, signature, err
			}})
			if err != nil {
				return nil, err
			}
		}
	}
	return l.text()
}

// A GetModule returns a module by its hash, and its signature; empty: it has none.
type GetModule func(sha256 string) (module, signature []byte, err error)

// Take makes the directory what lock says, for a cluster: get returns the modules
// that it lacks, by their hash. What the cluster had put there before and does not
// name any more is removed. It reports whether anything changed.
func (d Dir) Take(ctx context.Context, cluster string, lock []byte, get GetModule) (changed bool, err error) {
	own := d.sharedBy() == cluster
	return d.take(ctx, lock, get, own, func(w *writer) error {
		if own {
			return nil
		}
		return w.put(sharedFile, []byte(cluster+"\n"))
	})
}

// Restore makes the directory what lock says, which was its own, as Take does: it
// belongs to no cluster by that.
func (d Dir) Restore(ctx context.Context, lock []byte, get GetModule) error {
	_, err := d.take(ctx, lock, get, true, func(*writer) error { return nil })
	return err
}

// take makes the directory what lock says. Where clean is set, the versions that it
// pins now and that lock does not pin are removed.
func (d Dir) take(ctx context.Context, lock []byte, get GetModule, clean bool, mark func(*writer) error) (changed bool, err error) {
	next, err := parseLock(LockFile, lock)
	if err != nil {
		return false, err
	}
	d.Node = true
	w, err := d.write(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	before, err := ReadLock(d.Path)
	if err != nil {
		return false, err
	}
	if err := mark(w); err != nil {
		return false, err
	}
	wanted := map[string]bool{}
	for name, e := range next.Plugins {
		for version, pin := range e.Pinned {
			wanted[plugin.FileName(name, version)] = true
			put, err := d.takeModule(w, name, version, pin.SHA256, get)
			if err != nil {
				return false, fmt.Errorf("plugin %s %s (sha256 %s): %w", name, version, pin.SHA256, err)
			}
			changed = changed || put
		}
	}
	if has, err := os.ReadFile(filepath.Join(d.Path, LockFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	} else if !bytes.Equal(has, lock) {
		if err := w.put(LockFile, lock); err != nil {
			return false, err
		}
		changed = true
	}
	if !clean {
		return changed, nil
	}
	for name, e := range before.Plugins {
		for version := range e.Pinned {
			if file := plugin.FileName(name, version); !wanted[file] {
				if err := errors.Join(w.drop(file), w.drop(file+signatureSuffix)); err != nil {
					return changed, err
				}
			}
		}
	}
	return changed, nil
}

// takeModule puts a module and its signature into the directory, where it is not there.
func (d Dir) takeModule(w *writer, name, version, sha256 string, get GetModule) (put bool, err error) {
	file := plugin.FileName(name, version)
	if has, err := plugin.ReadFile(d.file(name, version)); err == nil && hash(has) == sha256 {
		return false, nil
	}
	module, signature, err := get(sha256)
	if err == nil && hash(module) != sha256 {
		err = errors.New("it is not what its hash says")
	}
	if err != nil {
		return false, err
	}
	if len(signature) > 0 {
		err = w.put(file+signatureSuffix, signature)
	} else {
		err = w.drop(file + signatureSuffix)
	}
	if err == nil {
		err = w.put(file, module)
	}
	return err == nil, err
}
