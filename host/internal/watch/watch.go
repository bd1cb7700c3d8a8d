// Package watch tells when a folder's files have changed and come to rest. It
// owns fsnotify.
package watch

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options says how to watch. The zero value of a field means its default.
type Options struct {
	// Quiet is how long nothing may happen before a change counts as whole;
	// default 300ms.
	Quiet time.Duration
	// Again is how long to wait before a folder that is not there, or went away,
	// is looked for again; default 2s.
	Again time.Duration
	// Failed is told what goes wrong, such as a system without room for another
	// watch; nil drops it.
	Failed func(error)
}

// A Folder is being watched, itself and not what lies in its folders.
type Folder struct {
	dir     string
	options Options
	watcher *fsnotify.Watcher
	there   bool
}

// Open watches dir from now on; where dir is not there, from when it is. Call
// Run, which closes it.
func Open(dir string, o Options) (*Folder, error) {
	if o.Quiet == 0 {
		o.Quiet = 300 * time.Millisecond
	}
	if o.Again == 0 {
		o.Again = 2 * time.Second
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	f := &Folder{dir: dir, options: o, watcher: w}
	f.there = w.Add(dir) == nil
	return f, nil
}

// Run calls changed, one call at a time, whenever files whose names want
// accepts were written, added, renamed or removed since Open and nothing has
// happened to them for a while: a file that is still being written is left
// alone as long as its writer goes on. It returns once ctx ends and changed has
// returned.
func (f *Folder) Run(ctx context.Context, want func(name string) bool, changed func()) {
	defer func() {
		if err := f.watcher.Close(); err != nil {
			f.options.Failed(err)
		}
	}()
	quiet := time.NewTimer(f.options.Quiet)
	quiet.Stop()
	defer quiet.Stop()
	again := time.NewTicker(f.options.Again)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-f.watcher.Events:
			if f.gone(e) || want(filepath.Base(e.Name)) && e.Op != fsnotify.Chmod {
				quiet.Reset(f.options.Quiet)
			}
		case err := <-f.watcher.Errors:
			// Events may be lost: look, rather than miss one.
			f.options.Failed(err)
			quiet.Reset(f.options.Quiet)
		case <-again.C:
			if !f.there && f.watcher.Add(f.dir) == nil {
				f.there = true
				quiet.Reset(f.options.Quiet) // it may have come with files
			}
		case <-quiet.C:
			changed()
		}
	}
}

// gone reports whether e says that the folder itself went away.
func (f *Folder) gone(e fsnotify.Event) bool {
	if filepath.Clean(e.Name) != filepath.Clean(f.dir) || !e.Has(fsnotify.Remove) && !e.Has(fsnotify.Rename) {
		return false
	}
	_ = f.watcher.Remove(f.dir) // mostly it is off the list by itself
	f.there = false
	return true
}
