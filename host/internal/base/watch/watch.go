// Package watch tells when a folder's files have changed and come to rest. It
// owns fsnotify.
package watch

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options says how to watch. The zero value of a field means its default.
type Options struct {
	// Quiet is how long nothing may happen to a file before its change counts as
	// whole, whatever happens to others; default 300ms.
	Quiet time.Duration
	// Soon reports whether changes of a name are told after a sixth of Quiet: of files that are
	// put in place whole; default none.
	Soon func(name string) bool
	// Ceiling is when a change is told of a file whose writer goes on; default 2s.
	Ceiling time.Duration
	// Again is how long to wait before a folder that is not there, or went away,
	// is looked for again; default 2s.
	Again time.Duration
	// Poll is how often the folder is looked at, for what the system does not tell: of
	// links, of file systems of other machines, of permissions; default 10s.
	Poll time.Duration
	// Failed is told what goes wrong, such as a system without room for another
	// watch; nil drops it.
	Failed func(error)
}

// maxRetry is the longest that a [Folder] waits before it tells again of a change that
// could not be acted on.
const maxRetry = 10 * time.Minute

// A Folder is being watched, itself and not what lies in its folders. It may be a link,
// and so may be its files.
type Folder struct {
	dir     string
	options Options
	watcher *fsnotify.Watcher
	watched os.FileInfo // the folder that is watched; nil: none is there

	want    func(name string) bool
	seen    map[string]os.FileInfo // files, at the last look
	pending map[string]*burst      // names that something has happened to
	due     *time.Timer            // for the first of pending

	retry time.Time // when to tell again; zero: there is nothing to
	wait  time.Duration
}

// A burst is a series of changes of one file that follow each other.
type burst struct {
	first, last time.Time
	told        bool // since it went on for too long
}

// Open watches dir from now on; where dir is not there, from when it is. Call
// Run, which closes it.
func Open(dir string, o Options) (*Folder, error) {
	for at, otherwise := range map[*time.Duration]time.Duration{
		&o.Quiet: 300 * time.Millisecond, &o.Ceiling: 2 * time.Second, &o.Again: 2 * time.Second, &o.Poll: 10 * time.Second,
	} {
		if *at == 0 {
			*at = otherwise
		}
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	if o.Soon == nil {
		o.Soon = func(string) bool { return false }
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	f := &Folder{dir: dir, options: o, watcher: w, pending: map[string]*burst{}}
	f.watch()
	f.seen = f.look(func(string) bool { return true })
	return f, nil
}

// watch begins to watch the folder, and reports whether it is there.
func (f *Folder) watch() bool {
	info, err := os.Stat(f.dir)
	if err != nil || f.watcher.Add(f.dir) != nil {
		return false
	}
	f.watched = info
	return true
}

// Run calls changed, one call at a time, whenever files whose names want
// accepts were written, added, renamed or removed since Open and nothing has
// happened to them for a while: a file that is still being written is left
// alone as long as its writer goes on, up to the ceiling, and keeps nothing else
// waiting. Where changed could not act for a reason that may pass, it returns true, and is
// called again, after longer and longer times. Run returns once ctx ends and changed has
// returned.
func (f *Folder) Run(ctx context.Context, want func(name string) bool, changed func() (again bool)) {
	defer func() {
		if ctx.Err() == nil {
			return // changed panicked: whoever contains that calls Run again
		}
		if err := f.watcher.Close(); err != nil {
			f.options.Failed(err)
		}
	}()
	f.want = want
	maps.DeleteFunc(f.seen, func(name string, _ os.FileInfo) bool { return !want(name) })
	f.due = time.NewTimer(time.Hour)
	f.due.Stop()
	defer f.due.Stop()
	again, poll := time.NewTicker(f.options.Again), time.NewTicker(f.options.Poll)
	defer again.Stop()
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-f.watcher.Events:
			if name := filepath.Base(e.Name); f.gone(e) || want(name) && e.Op != fsnotify.Chmod {
				f.happened(name)
			}
		case err := <-f.watcher.Errors:
			// Events may be lost: look, rather than miss one.
			f.options.Failed(err)
			f.happened("")
		case <-again.C:
			if f.watched == nil && f.watch() {
				f.happened("") // it may have come with files
			}
		case <-poll.C:
			f.compare()
			if !f.retry.IsZero() && time.Now().After(f.retry) {
				f.happened("")
			}
		case now := <-f.due.C:
			if f.settle(now) {
				f.seen = f.look(want)
				f.plan(changed())
			}
			f.arm()
		}
	}
}

// happened notes that something happened to the file of that name, or to any: "".
func (f *Folder) happened(name string) {
	now := time.Now()
	if f.pending[name] == nil {
		f.pending[name] = &burst{first: now}
	}
	f.pending[name].last = now
	f.arm()
}

// dueAt is when the burst b of the file name is to be told.
func (f *Folder) dueAt(name string, b *burst) time.Time {
	quiet := f.options.Quiet
	if name != "" && f.options.Soon(name) {
		quiet /= 6
	}
	at := b.last.Add(quiet)
	if ceiling := b.first.Add(f.options.Ceiling); !b.told && ceiling.Before(at) {
		return ceiling
	}
	return at
}

// arm sets the timer for the first burst to be told.
func (f *Folder) arm() {
	var first time.Time
	for name, b := range f.pending {
		if at := f.dueAt(name, b); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if !first.IsZero() {
		f.due.Reset(time.Until(first))
	}
}

// settle lets go of what is due, and reports whether anything was.
func (f *Folder) settle(now time.Time) (due bool) {
	for name, b := range f.pending {
		if f.dueAt(name, b).After(now) {
			continue
		}
		due = true
		if b.told = true; !f.dueAt(name, b).After(now) {
			delete(f.pending, name)
		}
	}
	return due
}

// plan notes whether changed is to be called again, without a change.
func (f *Folder) plan(again bool) {
	if !again {
		f.retry, f.wait = time.Time{}, 0
		return
	}
	f.wait = min(max(2*f.wait, f.options.Poll), maxRetry)
	f.retry = time.Now().Add(f.wait)
}

// compare looks at the folder, and notes what has changed without a word of the system.
func (f *Folder) compare() {
	if info, err := os.Stat(f.dir); f.watched != nil && (err != nil || !os.SameFile(info, f.watched)) {
		_ = f.watcher.Remove(f.dir) // a link leads elsewhere now
		f.watched = nil
		f.watch()
	}
	now := f.look(f.want)
	for name, info := range now {
		if was := f.seen[name]; was == nil || !same(was, info) {
			f.happened(name)
		}
	}
	for name := range f.seen {
		if now[name] == nil {
			f.happened(name)
		}
	}
	f.seen = now
}

// look returns the files of the folder whose names want accepts, behind links too; none
// where it is not there.
func (f *Folder) look(want func(string) bool) map[string]os.FileInfo {
	files := map[string]os.FileInfo{}
	entries, _ := os.ReadDir(f.dir) // what cannot be read is as if it were not there, until it can
	for _, e := range entries {
		if !want(e.Name()) {
			continue
		}
		if info, err := os.Stat(filepath.Join(f.dir, e.Name())); err == nil {
			files[e.Name()] = info
		}
	}
	return files
}

// same reports whether nothing says that a file has changed.
func same(a, b os.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode() && os.SameFile(a, b)
}

// gone reports whether e says that the folder itself went away.
func (f *Folder) gone(e fsnotify.Event) bool {
	if filepath.Clean(e.Name) != filepath.Clean(f.dir) || !e.Has(fsnotify.Remove) && !e.Has(fsnotify.Rename) {
		return false
	}
	_ = f.watcher.Remove(f.dir) // mostly it is off the list by itself
	f.watched = nil
	return true
}
