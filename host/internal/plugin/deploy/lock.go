package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/plugin"
)

// LockFile is the name of the lock in a plugin directory.
const LockFile = "plugins.lock"

// lockFormat is the form of the lock that this package writes, and the newest
// that it reads.
const lockFormat = 2

// maxLock bounds a lock file, in bytes: some thousand versions.
const maxLock = 1 << 20

// A Lock says which plugins a deployment runs, by name, and which of them answers
// each source. Format 1 had no sources.
type Lock struct {
	Format  int               `json:"format"`
	Sources map[string]string `json:"sources,omitempty"` // by source: a plugin's name
	Plugins map[string]*Entry `json:"plugins"`
}

// An Entry is what a lock says of one plugin.
type Entry struct {
	Choice                 // in use
	Before *Former         `json:"before,omitempty"` // what a rollback brings back
	Pinned map[string]*Pin `json:"pinned"`           // by version; those not in use run beside it
}

// A Choice is a version and what it was chosen by.
type Choice struct {
	Use        string `json:"use"`
	Constraint string `json:"constraint,omitempty"` // as [plugin.ParseConstraint] reads it
}

// A Former is what was before the last change.
type Former struct {
	Choice
	// Sources are those that the change moved, with the plugin that answered each;
	// empty: none that the lock named.
	Sources map[string]string `json:"sources,omitempty"`
}

// A Pin is one version that may run.
type Pin struct {
	SHA256 string `json:"sha256"` // of the whole module, in hexadecimal
	ABI    int    `json:"abi"`
	// From is where it came from: a URL, or a reference with the digest of the
	// manifest. Empty: from a file.
	From   string `json:"from,omitempty"`
	Grants Grants `json:"grants"`
}

// Grants are those that were accepted: a module that asks for more is refused.
type Grants struct {
	HTTP    []string `json:"http"`
	Secrets []string `json:"secrets"`
	// Auth says how the host signs requests in, and with which secrets; see
	// [manifest.AuthGrants]. Plugins of ABI 1 have none.
	Auth []string `json:"auth,omitempty"`
}

// newGrants are m's. The lists that are always there are not nil, which JSON
// would show as null.
func newGrants(m *abi.Manifest) Grants {
	return Grants{append([]string{}, m.Grants.HTTP...), append([]string{}, m.Grants.Secrets...), manifest.AuthGrants(m)}
}

// beyond returns what g asks for and accepted does not have.
func (g Grants) beyond(accepted Grants) Grants {
	lacks := func(all, have []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(have, s) })
	}
	return Grants{lacks(g.HTTP, accepted.HTTP), lacks(g.Secrets, accepted.Secrets), lacks(g.Auth, accepted.Auth)}
}

// with returns the grants of both.
func (g Grants) with(other Grants) Grants {
	more := other.beyond(g)
	return Grants{slices.Concat(g.HTTP, more.HTTP), slices.Concat(g.Secrets, more.Secrets), slices.Concat(g.Auth, more.Auth)}
}

// IsZero reports whether nothing is granted.
func (g Grants) IsZero() bool { return len(g.HTTP)+len(g.Secrets)+len(g.Auth) == 0 }

// ReadLock returns the lock of dir, an empty one where there is none. An error
// about its text names line and column.
func ReadLock(dir string) (*Lock, error) { return Dir{Path: dir}.readLock() }

// readLock returns d's lock, an empty one where there is none.
func (d Dir) readLock() (*Lock, error) {
	b := d.Lock
	if b == nil {
		var err error
		if b, err = d.ReadLockText(); errors.Is(err, ErrNoLock) {
			return &Lock{Format: lockFormat, Sources: map[string]string{}, Plugins: map[string]*Entry{}}, nil
		} else if err != nil {
			return nil, err
		}
	}
	return parseLock(filepath.Join(d.Path, LockFile), b)
}

// ReadLockText returns what the file of d's lock holds, whatever that is. An error is
// [ErrNoLock] where there is none, or no directory: that says nothing of what was pinned.
func (d Dir) ReadLockText() ([]byte, error) {
	file := filepath.Join(d.Path, LockFile)
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read plugin lock: %s is no regular file", file) // a named pipe would be waited for
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read plugin lock: %w in %s", ErrNoLock, d.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("read plugin lock: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxLock+1))
	if err != nil {
		return nil, fmt.Errorf("read plugin lock: %w", err)
	}
	if len(b) > maxLock {
		return nil, fmt.Errorf("read plugin lock: %s is over %d KiB: take the last good one from version control", file, maxLock>>10)
	}
	return b, nil
}

// CheckLock returns an error that names the remedy where there is no lock, or none that
// can be read. A lock that is missing does not mean that nothing is pinned.
func (d Dir) CheckLock() error {
	_, err := d.ReadLockText()
	if errors.Is(err, ErrNoLock) {
		return fmt.Errorf("%w: put it back, as from version control, or begin one by %s", err, d.command("install NAME --new-lock"))
	}
	return err
}

// checkNewLock refuses to write the first lock where other modules than those of the plugin
// name lie without one: they may have been pinned by a lock that is gone, and would be
// no more.
func (d Dir) checkNewLock(name, version string, o InstallOptions) error {
	if _, err := d.ReadLockText(); o.NewLock || !errors.Is(err, ErrNoLock) {
		return nil // what else is wrong with it, whoever reads it says
	}
	files, err := d.modules()
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, m, err := open(file); file != d.file(name, version) && (err != nil || m.Name != name) {
			return fmt.Errorf("%w in %s, where %s lies: put the lock back, as from version control, or begin a new one, which pins none of the modules that are there, by --new-lock", ErrNoLock, d.Path, filepath.Base(file))
		}
	}
	return nil
}

// text is how a lock is written: the same lock always alike, a line for each
// thing that can change, for version control.
func (l *Lock) text() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(l); err != nil {
		return nil, fmt.Errorf("encode plugin lock: %w", err)
	}
	return b.Bytes(), nil
}

// names lists the plugins in order.
func (l *Lock) names() []string { return slices.Sorted(maps.Keys(l.Plugins)) }

// versions lists the pinned versions: the one in use first, then the newest.
func (e *Entry) versions() []string {
	return slices.SortedFunc(maps.Keys(e.Pinned), func(a, b string) int {
		if (a == e.Use) != (b == e.Use) {
			if a == e.Use {
				return -1
			}
			return 1
		}
		return plugin.Newer(a, b)
	})
}

// choose takes c in use.
func (e *Entry) choose(c Choice) {
	if e.Use != "" && e.Use != c.Use {
		e.Before = &Former{Choice: e.Choice}
	}
	e.Choice = c
}

// String lists what is granted, for a message.
func (g Grants) String() string {
	var all []string
	for _, s := range g.HTTP {
		all = append(all, "requests to "+cut(s))
	}
	for _, s := range g.Secrets {
		all = append(all, "the secret "+cut(s))
	}
	for _, s := range g.Auth {
		all = append(all, "signing requests in by "+cut(s))
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}
