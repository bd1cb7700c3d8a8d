package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// A TakenError says that the plugin of another name answers the source of the
// one that is to be installed. Nothing was changed.
type TakenError struct {
	Change  Change // Owner answers Source
	Accept  string // the command that gives the source to the new plugin
	Beside  string // the command that installs it for workspaces that name it
	Compare string // the command that shows all that differs; empty where there is nothing to compare with
}

func (e *TakenError) Error() string {
	c := e.Change
	s := fmt.Sprintf("plugin %s %s is for the source %s, which plugin %s answers: in its place it would get that source's requests and keys", c.Name, c.Version, c.Source, c.Owner)
	if !c.Widened.IsZero() {
		s += ", and more than that plugin may: " + c.Widened.String()
	}
	s += ": "
	if e.Compare != "" {
		s += "see all that differs by " + e.Compare + "; "
	}
	return s + fmt.Sprintf("give it the source by %s, or install it for workspaces that name it by %s", e.Accept, e.Beside)
}

// A Binding says which plugin answers a source.
type Binding struct {
	Source string `json:"source"`
	Plugin string `json:"plugin"` // empty: none, since several could and nobody chose
	// Locked says that the lock binds the source; otherwise the binary carries
	// the plugin.
	Locked bool `json:"locked"`
	// Others are pinned or carried plugins that could answer it.
	Others []string `json:"others"`
}

// carried returns the sources of the plugins that the binary carries.
func carried(embedded [][]byte) map[string]string {
	sources := map[string]string{}
	for _, module := range embedded {
		if m, err := plugin.ReadManifest(module); err == nil && m.Kind == abi.KindProvider && sources[m.Source] == "" {
			sources[m.Source] = m.Name
		}
	}
	return sources
}

// offered returns by source the names of the pinned plugins whose version in use
// answers it, in order.
func (d Dir) offered(lock *Lock) map[string][]string {
	sources := map[string][]string{}
	for _, name := range lock.names() {
		e := lock.Plugins[name]
		module, err := d.read(name, e.Use, e.Pinned[e.Use])
		if err != nil {
			continue // what is refused answers nothing
		}
		if m, err := plugin.ReadManifest(module); err == nil && m.Kind == abi.KindProvider {
			sources[m.Source] = append(sources[m.Source], name)
		}
	}
	return sources
}

// load returns the lock of d with the sources bound: one of format 1 binds none,
// so each stays with the plugin that answers it alone. Of several, the one that
// the binary carries under the same name has it, else none; warnings say so.
func (d Dir) load(embedded [][]byte) (lock *Lock, warnings []error, err error) {
	if lock, err = d.readLock(); err != nil {
		return nil, nil, err
	}
	own := carried(embedded)
	if lock.Format == 1 {
		lock.Format = lockFormat
		offered := d.offered(lock)
		for _, source := range slices.Sorted(maps.Keys(offered)) {
			names := offered[source]
			if has := own[source]; has != "" && !slices.Contains(names, has) {
				names = append(names, has)
			}
			switch has := own[source]; {
			case len(names) == 1:
				lock.Sources[source] = names[0]
			case has != "":
				lock.Sources[source] = has
				warnings = append(warnings, fmt.Errorf("the plugins %s are for the source %s: %s answers it, as the binary carries that name; choose by %s",
					strings.Join(names, ", "), source, has, d.command("source %s NAME", source)))
			default:
				warnings = append(warnings, fmt.Errorf("the plugins %s are for the source %s, and the lock binds it to none of them, so none answers it: choose by %s",
					strings.Join(names, ", "), source, d.command("source %s NAME", source)))
			}
		}
	}
	for _, source := range slices.Sorted(maps.Keys(lock.Sources)) {
		if name := lock.Sources[source]; lock.Plugins[name] == nil && own[source] != name {
			warnings = append(warnings, fmt.Errorf("the lock binds the source %s to plugin %s, which is neither pinned nor carried, so none answers it: choose by %s",
				source, name, d.command("source %s NAME", source)))
		}
	}
	return lock, warnings, nil
}

// answers says which plugin answers each source: what the lock binds and, of
// other sources, what the binary carries. One for which there are pinned plugins
// and neither has an empty name.
func (d Dir) answers(lock *Lock, embedded [][]byte) map[string]string {
	sources := carried(embedded)
	maps.Copy(sources, lock.Sources)
	return sources
}

// owner returns who answers source, for a message; empty: nobody does or could
// but name. Where several could and none does, it is all of them.
func (in *Installer) owner(lock *Lock, source, name string) string {
	if owner := in.Dir.answers(lock, in.Embedded)[source]; owner != "" {
		return owner
	}
	if offered := in.Dir.offered(lock)[source]; len(offered) > 1 || len(offered) == 1 && offered[0] != name {
		return strings.Join(offered, " or ")
	}
	return ""
}

// inUse returns the version in use of plugin name, pinned or carried, with its
// manifest.
func (in *Installer) inUse(lock *Lock, name string) (*abi.Manifest, error) {
	if e := lock.Plugins[name]; e != nil {
		module, err := in.Dir.read(name, e.Use, e.Pinned[e.Use])
		if err != nil {
			return nil, err
		}
		return plugin.ReadManifest(module)
	}
	for _, module := range in.Embedded {
		if m, err := plugin.ReadManifest(module); err == nil && m.Name == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("there is no plugin %s, pinned or carried: get one by %s", cut(name), in.Dir.command("install FILE-or-URL"))
}

// exceeds returns what g has and the version in use of plugin owner has not.
// Where that one cannot be read, it is all of g.
func (in *Installer) exceeds(lock *Lock, g Grants, owner string) Grants {
	m, err := in.inUse(lock, owner)
	if err != nil {
		return g
	}
	return g.beyond(newGrants(m))
}

// Sources lists who answers each source, by its name.
func (in *Installer) Sources() ([]Binding, error) {
	lock, _, err := in.Dir.load(in.Embedded)
	if err != nil {
		return nil, err
	}
	own, offered := carried(in.Embedded), in.Dir.offered(lock)
	all := in.Dir.answers(lock, in.Embedded)
	for source := range offered {
		if _, ok := all[source]; !ok {
			all[source] = ""
		}
	}
	bindings := []Binding{}
	for _, source := range slices.Sorted(maps.Keys(all)) {
		b := Binding{Source: source, Plugin: all[source], Locked: lock.Sources[source] != "", Others: []string{}}
		for _, name := range append(offered[source], own[source]) {
			if name != "" && name != b.Plugin && !slices.Contains(b.Others, name) {
				b.Others = append(b.Others, name)
			}
		}
		bindings = append(bindings, b)
	}
	return bindings, nil
}

// Bind makes plugin name, pinned or carried, the one that answers source. Where
// it may reach more than the one that answers it now, that needs grant: the
// error is a [WidenedError] otherwise.
func (in *Installer) Bind(ctx context.Context, source, name string, grant bool) (*Change, error) {
	w, err := in.Dir.write(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	lock, _, err := in.Dir.load(in.Embedded)
	if err != nil {
		return nil, err
	}
	m, err := in.inUse(lock, name)
	switch {
	case err != nil:
		return nil, err
	case m.Kind != abi.KindProvider:
		return nil, fmt.Errorf("plugin %s is a %s, which answers no source", name, m.Kind)
	case m.Source != source:
		return nil, fmt.Errorf("plugin %s %s is for the source %s, and not for %s", name, m.Version, m.Source, cut(source))
	}
	c := &Change{Name: name, Version: m.Version, Grants: newGrants(m), Before: m.Version, Source: source}
	e := lock.Plugins[name]
	if e != nil {
		c.File, c.SHA256 = in.Dir.file(name, e.Use), e.Pinned[e.Use].SHA256
	}
	c.OwnerBefore = in.owner(lock, source, name)
	if c.OwnerBefore != "" && c.OwnerBefore != name {
		c.Widened = in.exceeds(lock, c.Grants, c.OwnerBefore)
	}
	if !c.Widened.IsZero() && !grant {
		return nil, &WidenedError{
			*c, c.OwnerBefore + ", which answers the source " + source,
			in.Dir.command("source %s %s --grant", source, name), in.Dir.command("diff %s %s", c.OwnerBefore, name),
		}
	}
	if lock.Sources[source] != name {
		before := map[string]string{source: lock.Sources[source]}
		lock.bind(source, name)
		if e != nil {
			e.Before = &Former{e.Choice, before}
		}
	}
	return in.commit(w, lock, c)
}

// bind makes plugin name answer source; no name takes it out of the lock.
func (l *Lock) bind(source, name string) {
	if name == "" {
		delete(l.Sources, source)
	} else {
		l.Sources[source] = name
	}
}

// release takes its sources from plugin name, which has left the lock.
func (l *Lock) release(name string) {
	maps.DeleteFunc(l.Sources, func(_, owner string) bool { return owner == name })
}

var errTakeBeside = errors.New("a plugin that is installed beside another cannot take its source: choose one of the two")
