package deploy

import (
	"context"
	"fmt"

	"github.com/parley-search/parley/host/internal/plugin"
)

// A Synced is a pinned version and what [Installer.Sync] did for it.
type Synced struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	State   string `json:"state"`            // "kept", "fetched" or "failed"
	From    string `json:"from,omitempty"`   // what it was fetched from
	Reason  string `json:"reason,omitempty"` // why it failed
}

// The states of a [Synced].
const (
	SyncKept    = "kept"
	SyncFetched = "fetched"
	SyncFailed  = "failed"
)

// Sync brings the files of all pinned versions to what the lock says, and changes
// nothing in the lock. What is missing or altered is fetched from where the lock says
// that it came from; one that came from a file is asked of shipped, which returns nil
// for what it does not have. Files must have the pinned hash.
func (in *Installer) Sync(ctx context.Context, shipped func(name, version string) ([]byte, error)) ([]Synced, error) {
	lock, _, err := in.Dir.load(in.Embedded)
	if err != nil || len(lock.Plugins) == 0 {
		return []Synced{}, err
	}
	w, err := in.Dir.write(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	all := []Synced{}
	for _, name := range lock.names() {
		e := lock.Plugins[name]
		for _, version := range e.versions() {
			s := Synced{Name: name, Version: version, State: SyncKept}
			if _, err := in.Dir.read(name, version, e.Pinned[version]); err != nil {
				s.State = SyncFetched
				if s.From, err = in.restore(ctx, w, name, version, e.Pinned[version], shipped); err != nil {
					s.State, s.Reason = SyncFailed, err.Error()
				}
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// restore puts the file of a pinned version where it belongs, and returns what it was
// taken from.
func (in *Installer) restore(ctx context.Context, w *writer, name, version string, pin *Pin, shipped func(name, version string) ([]byte, error)) (from string, err error) {
	f := &Fetched{Place: "this program"}
	if pin.From == "" {
		f.Module, err = shipped(name, version)
		if err == nil && f.Module == nil {
			err = fmt.Errorf("it was installed from a file, and no plugin %s %s is shipped: copy the file with sha256 %s to %s", name, version, pin.SHA256, in.Dir.file(name, version))
		}
	} else {
		var src Source
		if src, err = ParseSource(pin.place()); err == nil {
			f, err = in.Dir.Fetch(ctx, src)
		}
	}
	if err != nil {
		return "", err
	}
	if found := hash(f.Module); found != pin.SHA256 {
		return "", fmt.Errorf("%s has plugin %s %s with sha256 %s, and the lock expects %s: nothing was written; a plugin that another version of Go built has other bytes: copy the pinned file to %s",
			f.Place, name, version, found, pin.SHA256, in.Dir.file(name, version))
	}
	if in.Dir.PublicKey != nil {
		if err := in.Dir.PublicKey.Verify(f.Place, f.Module, f.Signature); err != nil {
			return "", err
		}
	}
	file := plugin.FileName(name, version)
	if err := w.put(file, f.Module); err != nil {
		return "", err
	}
	if len(f.Signature) > 0 && !w.has(file+signatureSuffix, f.Signature) {
		if err := w.put(file+signatureSuffix, f.Signature); err != nil {
			return "", err
		}
	}
	_, err = in.Dir.read(name, version, pin) // whatever else a host would refuse it for
	return f.Place, err
}
