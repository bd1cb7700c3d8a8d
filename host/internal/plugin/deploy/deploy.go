// Package deploy owns what a deployment says about its plugins: the plugin
// directory, the lock in it, the grants that were accepted and the signatures.
// It tells what shall run, and changes that when an operator says so; it runs
// nothing itself.
package deploy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// A Dir is a plugin directory and what is known of it beside its files.
type Dir struct {
	Path string
	// PublicKey is whose signature each file needs; nil: none.
	PublicKey *PublicKey
	// Transport is what modules are downloaded by, of URLs and registries; nil: not
	// at all.
	Transport http.RoundTripper
	// Registry is what the repositories of plugins that are named alone begin with,
	// such as oci://registry.example.com/parley; empty: they have none.
	Registry string
	// Lock is a lock to go by in place of the file's, see [Dir.ReadLockText]; nil: the
	// file's.
	Lock []byte
	// Node: it is a node of a cluster that changes the directory, not a command.
	Node bool
}

// Why a plugin does not run.
var (
	ErrUnlisted = errors.New("it is not in " + LockFile)
	ErrMissing  = errors.New("the file is missing")
	ErrNoLock   = errors.New("there is no " + LockFile)
)

// file is where a version lies.
func (d Dir) file(name, version string) string {
	return filepath.Join(d.Path, plugin.FileName(name, version))
}

// command is a command line that mends something in d, for a message.
func (d Dir) command(format string, args ...any) string {
	c := fmt.Sprintf("parley plugin "+format, args...)
	if filepath.Clean(d.Path) != "plugins" {
		c += " --plugin-dir " + d.Path
	}
	return "`" + c + "`"
}

// read returns the module of a pinned version, once it is what the lock says in every
// respect.
func (d Dir) read(name, version string, pin *Pin) ([]byte, error) {
	return d.readInto(new(bytes.Buffer), name, version, pin)
}

// readInto is read with the module in b.
func (d Dir) readInto(b *bytes.Buffer, name, version string, pin *Pin) ([]byte, error) {
	file := d.file(name, version)
	if pin.ABI < abi.MinVersion || pin.ABI > abi.Version {
		return nil, fmt.Errorf("%s is pinned for ABI %d, and this host speaks %s: pin another version by %s, or run a host that speaks it",
			file, pin.ABI, plugin.ABIRange(), d.command("pin %s@VERSION", name))
	}
	err := plugin.ReadInto(b, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s, which the lock expects with sha256 %s: put it back by %s, or pin another version by %s",
			ErrMissing, file, pin.SHA256, d.command("sync"), d.command("pin %s@VERSION", name))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	module := b.Bytes()
	if found := hash(module); found != pin.SHA256 {
		return nil, fmt.Errorf("%s was altered: the lock expects sha256 %s, and the file has %s: put the pinned file back by %s; a new build needs a new version",
			file, pin.SHA256, found, d.command("sync"))
	}
	m, err := plugin.ReadManifest(module)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if m.Name != name || m.Version != version {
		return nil, fmt.Errorf("%s holds plugin %s %s, and the lock expects %s %s: pin what is there by %s", file, m.Name, m.Version, name, version, d.command("install %s", file))
	}
	if err := d.permit(m, pin); err != nil {
		return nil, err
	}
	if err := d.checkSignature(file, module); err != nil {
		return nil, err
	}
	return module, nil
}

// permit refuses a plugin that asks for more than was accepted.
func (d Dir) permit(m *abi.Manifest, pin *Pin) error {
	more := newGrants(m).beyond(pin.Grants)
	if more.IsZero() {
		return nil
	}
	file := d.file(m.Name, m.Version)
	return fmt.Errorf("%s asks for %s, which the lock does not accept: look at it by `parley plugin inspect %s`, then accept it by %s",
		file, more, file, d.command("pin %s@%s --grant", m.Name, m.Version))
}

// checkSignature refuses a module whose file lacks a signature that d wants.
func (d Dir) checkSignature(file string, module []byte) error {
	if d.PublicKey == nil {
		return nil
	}
	signature, err := readSignature(file)
	if err != nil {
		return err
	}
	return d.PublicKey.Verify(file, module, signature)
}

// modules lists the paths of the *.wasm files in d, by name; none where d is
// not there.
func (d Dir) modules() ([]string, error) {
	entries, err := os.ReadDir(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list plugins: %w", err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".wasm" {
			files = append(files, filepath.Join(d.Path, e.Name()))
		}
	}
	return files, nil
}

// HasModules reports whether modules lie in d.
func (d Dir) HasModules() bool {
	files, err := d.modules()
	return err == nil && len(files) > 0
}

// open reads file and its manifest, whatever the lock says.
func open(file string) (module []byte, m *abi.Manifest, err error) {
	var b bytes.Buffer
	m, err = openInto(&b, file)
	return b.Bytes(), m, err
}

// openInto is open with the module in b.
func openInto(b *bytes.Buffer, file string) (*abi.Manifest, error) {
	if err := plugin.ReadInto(b, file); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	m, err := plugin.ReadManifest(b.Bytes())
	if err != nil {
		b.Reset()
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// hash is the sha256 of b in hexadecimal.
func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
