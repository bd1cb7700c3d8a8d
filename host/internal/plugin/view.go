package plugin

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// A member is a plugin of a [Set], with what the deployment says of it.
type member struct {
	wanted Wanted
	plugin Plugin
	took   time.Duration // from when it was found to when it could be used
}

// An ID names one version of a plugin, exactly.
type ID struct{ Name, Version, SHA256 string }

func (w *Wanted) id() ID { return ID{w.Name, w.Version, w.SHA256} }

// A view is all that streams may begin on. It never changes: a [Set] goes over
// from one to the next in one step.
type view struct {
	members  []member               // the stronger first
	bySource map[string][]*Provider // whatever their name: the stronger first
	beside   map[*Provider]bool     // answer only who asks for a version
	guards   map[string]*Guard      // by name: the one in use, or the newest
	owners   map[string]string      // the name of the plugin that answers each source
}

// newView returns the view of members in which owners answer the sources.
func newView(members []member, owners map[string]string) *view {
	v := &view{members: members, bySource: map[string][]*Provider{}, beside: map[*Provider]bool{}, guards: map[string]*Guard{}, owners: owners}
	ordered := slices.Clone(members)
	slices.SortStableFunc(ordered, func(a, b member) int {
		switch {
		case a.wanted.Use != b.wanted.Use:
			if a.wanted.Use {
				return -1
			}
			return 1
		case a.wanted.Use:
			return 0 // in the deployment's order
		}
		if c := newer(a.wanted.Version, b.wanted.Version); c != 0 {
			return c
		}
		return strings.Compare(a.wanted.Name, b.wanted.Name)
	})
	for _, m := range ordered {
		if p, ok := m.plugin.(*Provider); ok {
			v.bySource[p.manifest.Source] = append(v.bySource[p.manifest.Source], p)
			v.beside[p] = m.wanted.Locked && !m.wanted.Use
		}
		if g, ok := m.plugin.(*Guard); ok && v.guards[g.manifest.Name] == nil {
			v.guards[g.manifest.Name] = g
		}
	}
	return v
}

// answering lists the versions that answer source where a workspace names no
// plugin, or else those of the plugin that it names.
func (v *view) answering(source, name string) []*Provider {
	name = cmp.Or(name, v.owners[source])
	var all []*Provider
	for _, p := range v.bySource[source] {
		if p.manifest.Name == name {
			all = append(all, p)
		}
	}
	return all
}

// inherit returns what sources says, and for a source that it does not speak of
// what v says.
func (v *view) inherit(sources map[string]string) map[string]string {
	owners := maps.Clone(v.owners)
	maps.Copy(owners, sources)
	return owners
}

// find returns the member that is w, the same bytes under the same name.
func (v *view) find(w *Wanted) (member, bool) {
	for _, m := range v.members {
		if m.wanted.id() == w.id() {
			return m, true
		}
	}
	return member{}, false
}

// first returns of each plugin the version that stands before its others: the
// one in use, or the newest.
func (v *view) first() map[string]member {
	first := map[string]member{}
	for _, m := range v.members {
		had, ok := first[m.wanted.Name]
		if !ok || m.wanted.Use || !had.wanted.Use && newer(m.wanted.Version, had.wanted.Version) < 0 {
			first[m.wanted.Name] = m
		}
	}
	return first
}

// used reports whether a version of plugin name is said to be in use.
func (v *view) used(name string) bool {
	return slices.ContainsFunc(v.members, func(m member) bool { return m.wanted.Name == name && m.wanted.Use })
}

// permitted returns v without what the deployment permits no longer: to be read
// anew, which says why.
func (v *view) permitted(wanted []Wanted) *view {
	kept := slices.Clone(v.members)
	for n := range wanted {
		w := &wanted[n]
		if w.Permit == nil {
			continue
		}
		kept = slices.DeleteFunc(kept, func(m member) bool {
			return m.wanted.id() == w.id() && w.Permit(m.plugin.Manifest()) != nil
		})
	}
	if len(kept) == len(v.members) {
		return v
	}
	return newView(kept, v.owners)
}
