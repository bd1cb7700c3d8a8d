package store

import (
	"slices"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// optionPlace binds a secret option to its workspace and name, as sealPlace does
// a key.
func optionPlace(uid, name string) string { return "option " + name + " of workspace " + uid }

// openOptions puts the sealed options of r into found. As with the key, one that
// cannot be opened does not keep the rest from being read.
func (w *Workspaces) openOptions(found *workspace.Workspace, r *workspaceRecord) {
	found.Options = r.Options
	for name, sealed := range r.SealedOptions {
		text, err := w.sealer.Open(sealed, optionPlace(found.UID, name))
		if err != nil {
			found.OptionsUnreadable = append(found.OptionsUnreadable, name)
			continue
		}
		if found.OptionSecrets == nil {
			found.OptionSecrets = map[string]secret.Text{}
		}
		found.OptionSecrets[name] = secret.New(string(text))
	}
	slices.Sort(found.OptionsUnreadable)
}

// sealOptions puts the options of u into r; sealed are those that were kept so
// far.
func (w *Workspaces) sealOptions(r *workspaceRecord, u *workspace.Workspace, sealed map[string][]byte) {
	if len(u.Options) > 0 {
		r.Options = u.Options
	}
	keep := func(name string, b []byte) {
		if r.SealedOptions == nil {
			r.SealedOptions = map[string][]byte{}
		}
		r.SealedOptions[name] = b
	}
	for _, name := range u.OptionsUnreadable {
		if b := sealed[name]; b != nil {
			keep(name, b)
		}
	}
	for name, text := range u.OptionSecrets {
		keep(name, w.sealer.Seal([]byte(text.Reveal()), optionPlace(u.UID, name)))
	}
}

// resealOptions seals those of r anew, and reports whether there are any.
func resealOptions(uid string, r *workspaceRecord, anew settings.Reseal) bool {
	found := len(r.SealedOptions) > 0
	for name, sealed := range r.SealedOptions {
		if b := anew(sealed, optionPlace(uid, name), optionPlace(uid, name)); b != nil {
			r.SealedOptions[name] = b
		} else {
			delete(r.SealedOptions, name)
		}
	}
	return found
}
