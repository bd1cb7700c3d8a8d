package deploy

import (
	"context"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/registry"
)

// A Newer says which versions of a plugin there are where it came from.
type Newer struct {
	Name       string `json:"name"`
	Use        string `json:"use"`
	Constraint string `json:"constraint,omitempty"`
	From       string `json:"from,omitempty"` // without tag and digest
	// Allowed is the newest version that the constraint allows, and Newest that of
	// all; pre-releases count only where no release is newer than Use. Empty: none
	// is newer than Use.
	Allowed string `json:"allowed,omitempty"`
	Newest  string `json:"newest,omitempty"`
	// Held: Constraint does not allow Newest.
	Held bool `json:"held,omitempty"`
	// Reference is what an update to Allowed installs.
	Reference string `json:"reference,omitempty"`
	// Reason says why nothing is known; Failed, that something went wrong.
	Reason string `json:"reason,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// Outdated looks for newer versions of the plugins in use where they came from: of
// the one called name or, where that is empty, of all in the lock.
func (in *Installer) Outdated(ctx context.Context, name string) ([]Newer, error) {
	lock, _, err := in.Dir.load(in.Embedded)
	if err != nil {
		return nil, err
	}
	names := lock.names()
	if name != "" {
		if _, _, err := in.entry(name); err != nil {
			return nil, err
		}
		names = []string{name}
	}
	all := []Newer{}
	for _, name := range names {
		e := lock.Plugins[name]
		n := Newer{Name: name, Use: e.Use, Constraint: e.Constraint}
		if from := e.Pinned[e.Use].From; registry.IsReference(from) {
			if err := in.Dir.look(ctx, from, &n); err != nil {
				n.Reason, n.Failed = err.Error(), true
			}
		} else {
			n.Reason = "it was not installed from a registry"
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// look completes n by what is where it came from.
func (d Dir) look(ctx context.Context, from string, n *Newer) error {
	r, err := registry.ParseReference(from)
	if err != nil {
		return err
	}
	r.Tag, r.Digest = "", ""
	n.From = r.String()
	tags, err := d.client().Tags(ctx, r)
	if err != nil {
		return err
	}
	c, err := plugin.ParseConstraint(n.Constraint)
	if err != nil {
		return err
	}
	newer := slices.DeleteFunc(versionsOf(r, n.Name, tags), func(v string) bool { return plugin.Newer(v, n.Use) >= 0 })
	if len(newer) > 0 {
		n.Newest = newer[0]
		n.Held = n.Constraint != "" && !c.Allows(n.Newest)
	}
	if i := slices.IndexFunc(newer, c.Allows); i >= 0 {
		n.Allowed = newer[i]
		if r.Tag = tagOf(n.Allowed); r.Layout != "" {
			r.Tag = layoutTag(n.Name, n.Allowed)
		}
		n.Reference = r.String()
	}
	return nil
}

// FetchUpdate reads what n refers to, and makes sure that it is the version of the
// plugin that n says: a publisher there must not put another plugin in place
// of it.
func (d Dir) FetchUpdate(ctx context.Context, n Newer) (*Fetched, error) {
	src, err := ParseSource(n.Reference)
	if err != nil {
		return nil, err
	}
	f, err := d.Fetch(ctx, src)
	if err != nil {
		return nil, err
	}
	m, err := plugin.ReadManifest(f.Module)
	if err != nil {
		return nil, fmt.Errorf("update plugin %s: %w", n.Name, err)
	}
	if m.Name != n.Name || m.Version != n.Allowed {
		return nil, fmt.Errorf("update plugin %s: %s holds plugin %s %s: nothing was kept; ask who publishes it, or install that one by its own name", n.Name, f.Place, m.Name, m.Version)
	}
	return f, nil
}
