package deploy

import (
	"context"
	"fmt"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// A Change is what a command did, or would have done, to one plugin.
type Change struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // that the command was about
	File    string `json:"file,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
	From    string `json:"from,omitempty"` // where it came from, as in [Pin]
	Grants  Grants `json:"grants"`         // accepted for Version
	Widened Grants `json:"widened"`        // those of them that the version in use before did not have
	// Source is what a provider answers, and Owner the plugin that answers it now
	// where a workspace names none; OwnerBefore is who did before.
	Source      string `json:"source,omitempty"`
	Owner       string `json:"owner,omitempty"`
	OwnerBefore string `json:"ownerBefore,omitempty"`
	// Before and Use are the versions in use before and now; empty: none.
	Before     string   `json:"before,omitempty"`
	Use        string   `json:"use,omitempty"`
	Constraint string   `json:"constraint,omitempty"` // of the version in use
	Kept       string   `json:"kept,omitempty"`       // why Version is not in use; empty where it is
	Removed    []string `json:"removed,omitempty"`    // versions that are no longer pinned
}

// A WidenedError says that a version asks for more than was accepted before.
// Nothing was changed.
type WidenedError struct {
	Change  Change
	Than    string // what Change.Widened is compared with
	Accept  string // the command that accepts it
	Compare string // the command that shows all that changes
}

func (e *WidenedError) Error() string {
	c := e.Change
	return fmt.Sprintf("plugin %s %s asks for more than %s: %s: see all that changes by %s, then accept it by %s", c.Name, c.Version, e.Than, c.Widened, e.Compare, e.Accept)
}

// An Installer changes a plugin directory.
type Installer struct {
	Dir Dir
	// Embedded modules are what a first version under their name is compared
	// with.
	Embedded [][]byte
	// Try compiles a module and starts it once: what cannot run is not pinned.
	Try func(ctx context.Context, module []byte) error
}

// InstallOptions are an operator's wishes.
type InstallOptions struct {
	Grant      bool // accept grants that are wider than those of the version in use
	TakeSource bool // answer the source in place of the plugin of another name
	Beside     bool // leave the version in use as it is, and the source where it is
	NewLock    bool // write the first lock of a directory that has modules already
	// Reference is NAME[@CONSTRAINT] where the module was found by that: it has to be
	// such a plugin, and the constraint bounds later updates. Empty: it was not.
	Reference string
}

// constraint is what bounds later updates of e once it is installed by o.
func (o *InstallOptions) constraint(e *Entry) string {
	if _, constraint, given, err := SplitReference(o.Reference); err == nil && given && !o.Beside {
		return constraint
	}
	return e.Constraint
}

// meets makes sure that m, which came from a place, is what was asked for there.
func (o *InstallOptions) meets(m *abi.Manifest, from string) error {
	if o.Reference == "" {
		return nil
	}
	ok, err := Meets(m.Name, m.Version, o.Reference)
	if err != nil || ok {
		return err
	}
	return fmt.Errorf("install %s: %s holds plugin %s %s: nothing was kept; ask who publishes it, or install that one by its own name", o.Reference, from, m.Name, m.Version)
}

// InstallFrom is Install for what source names, see [ParseSource].
func (in *Installer) InstallFrom(ctx context.Context, source string, o InstallOptions) (*Change, error) {
	f, err := in.Dir.fetchFrom(ctx, source)
	if err != nil {
		return nil, err
	}
	return in.Install(ctx, f, o)
}

// Update installs the version that n allows; its error may be as those of Install.
func (in *Installer) Update(ctx context.Context, n Newer, o InstallOptions) (*Change, error) {
	f, err := in.Dir.FetchUpdate(ctx, n)
	if err != nil {
		return nil, err
	}
	return in.Install(ctx, f, o)
}

// Install keeps f in the directory and pins it. It is taken in use where none was,
// or where it is newer than the one in use and the constraint allows it. Its
// signature may be empty where none is wanted.
func (in *Installer) Install(ctx context.Context, f *Fetched, o InstallOptions) (*Change, error) {
	module, from := f.Module, f.Place
	if o.TakeSource && o.Beside {
		return nil, errTakeBeside
	}
	m, err := plugin.ReadManifest(module)
	if err != nil {
		return nil, fmt.Errorf("install %s: %w", from, err)
	}
	if err := o.meets(m, from); err != nil {
		return nil, err
	}
	if in.Dir.PublicKey != nil {
		if err := in.Dir.PublicKey.Verify(from, module, f.Signature); err != nil {
			return nil, err
		}
	}
	if err := in.Try(ctx, module); err != nil {
		return nil, fmt.Errorf("install %s: %w", from, err)
	}
	w, err := in.Dir.write(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := in.Dir.checkNewLock(m.Name, m.Version, o); err != nil {
		return nil, fmt.Errorf("install %s: %w", from, err)
	}
	lock, _, err := in.Dir.load(in.Embedded)
	if err != nil {
		return nil, err
	}
	c, err := in.admit(lock, m, module, o, in.installCommand(from, o.Reference), from)
	if err != nil {
		return nil, err
	}
	e := lock.Plugins[m.Name]
	if f.Origin != "" {
		e.Pinned[m.Version].From = f.Origin
		c.From = f.Origin
	}
	constraint := o.constraint(e)
	if c.Kept = e.keeps(m.Version, constraint, o.Beside); c.Kept == "" {
		lock.use(m, constraint, c.OwnerBefore, o.TakeSource)
	} else {
		by := m.Version
		if constraint != e.Constraint {
			by = constraint
		}
		c.Kept += ": take it in use by " + in.Dir.command("pin %s@%s", m.Name, by)
	}
	// The module first: a lock never names what is not there.
	name := plugin.FileName(m.Name, m.Version)
	if !w.has(name, module) {
		if err := w.put(name, module); err != nil {
			return nil, err
		}
	}
	if len(f.Signature) > 0 && !w.has(name+signatureSuffix, f.Signature) {
		if err := w.put(name+signatureSuffix, f.Signature); err != nil {
			return nil, err
		}
	}
	return in.commit(w, lock, c)
}

// use takes m in use by constraint. It answers its source where no other plugin,
// owner, does, or where it takes the source from that one.
func (l *Lock) use(m *abi.Manifest, constraint, owner string, take bool) {
	e := l.Plugins[m.Name]
	before := e.Choice
	e.choose(Choice{m.Version, constraint})
	switch {
	case m.Kind != abi.KindProvider:
	case owner == "" || owner == m.Name:
		l.Sources[m.Source] = m.Name
	case take:
		if before.Use == "" {
			before = e.Choice
		}
		e.Before = &Former{before, map[string]string{m.Source: l.Sources[m.Source]}}
		l.Sources[m.Source] = m.Name
	}
}

// installCommand is what was called to install what came from a place, for commands
// that accept it.
func (in *Installer) installCommand(from, reference string) string {
	switch {
	case reference == "":
		return "install " + from
	case in.Dir.Registry != "":
		return "install " + reference + " --plugin-registry " + in.Dir.Registry
	}
	return "install " + reference
}

// keeps says why version does not come in use by being installed, where a constraint
// bounds what does.
func (e *Entry) keeps(version, wanted string, beside bool) string {
	constraint, _ := plugin.ParseConstraint(wanted) // the lock was checked, and so was what was asked for
	switch {
	case e.Use == "" || e.Use == version:
		return ""
	case beside:
		return e.Use + " stays in use, as you wished"
	case !constraint.Allows(version):
		return fmt.Sprintf("%s stays in use: its constraint %s does not allow %s", e.Use, wanted, version)
	case plugin.Newer(version, e.Use) > 0:
		return fmt.Sprintf("%s stays in use: it is newer, or %s a pre-release", e.Use, version)
	}
	return ""
}

// admit pins module in lock, once its grants are accepted: by the lock, by
// o or, where nothing of its name ran before, by the wish to have it; and once a
// source that another plugin answers is given to it, or left to that one. The wish
// was command, and ref is how it named the module.
func (in *Installer) admit(lock *Lock, m *abi.Manifest, module []byte, o InstallOptions, command, ref string) (*Change, error) {
	e := lock.Plugins[m.Name]
	if e == nil {
		e = &Entry{Pinned: map[string]*Pin{}}
	}
	c := &Change{
		Name: m.Name, Version: m.Version, File: in.Dir.file(m.Name, m.Version), SHA256: hash(module),
		Grants: newGrants(m), Before: e.Use, Source: m.Source,
	}
	for version := range e.Pinned {
		if version != m.Version && strings.EqualFold(version, m.Version) {
			return nil, fmt.Errorf("plugin %s %s is pinned, and %s differs in case alone, which not every file system tells apart: give the new one another version", m.Name, version, m.Version)
		}
	}
	old := e.Pinned[m.Version]
	if old != nil && old.SHA256 != c.SHA256 {
		return nil, fmt.Errorf("plugin %s %s is pinned with sha256 %s, and this one has %s: give the new one another version",
			m.Name, m.Version, old.SHA256, c.SHA256)
	}
	accepted, than := in.accepted(e, m)
	if than != "" {
		c.Widened = c.Grants.beyond(accepted)
	}
	if !c.Widened.IsZero() && !o.Grant {
		return nil, &WidenedError{*c, than, in.Dir.command("%s --grant", command), in.Dir.command("diff %s %s", m.Name, ref)}
	}
	if m.Kind == abi.KindProvider {
		c.OwnerBefore = in.owner(lock, m.Source, m.Name)
	}
	if c.OwnerBefore != "" && c.OwnerBefore != m.Name {
		more := in.exceeds(lock, c.Grants, c.OwnerBefore)
		if old == nil && !o.TakeSource && !o.Beside {
			return nil, in.taken(lock, *c, more, command, ref)
		}
		if o.TakeSource {
			c.Widened = c.Widened.with(more)
		}
	}
	pin := &Pin{SHA256: c.SHA256, ABI: m.ABI, Grants: c.Grants}
	if old != nil {
		pin.From = old.From // the same bytes
	}
	e.Pinned[m.Version] = pin
	lock.Plugins[m.Name] = e
	return c, nil
}

// taken refuses c, whose source another plugin answers, which may reach less by
// more.
func (in *Installer) taken(lock *Lock, c Change, more Grants, command, ref string) *TakenError {
	c.Owner, c.Widened = c.OwnerBefore, more
	e := &TakenError{Change: c, Accept: in.Dir.command("%s --take-source", command), Beside: in.Dir.command("%s --beside", command)}
	if _, err := in.inUse(lock, c.Owner); err == nil {
		e.Compare = in.Dir.command("diff %s %s", c.Owner, ref)
	}
	return e
}

// accepted returns the grants that m is compared with and whose they are;
// nobody's where nothing of its name ran before.
func (in *Installer) accepted(e *Entry, m *abi.Manifest) (g Grants, than string) {
	if old := e.Pinned[m.Version]; old != nil {
		return old.Grants, "the lock accepts for it"
	}
	if e.Use != "" {
		return e.Pinned[e.Use].Grants, e.Use + ", which is in use"
	}
	for _, module := range in.Embedded {
		if carried, err := plugin.ReadManifest(module); err == nil && carried.Name == m.Name {
			return newGrants(carried), carried.Version + ", which the binary carries"
		}
	}
	return Grants{}, ""
}

// commit writes lock and completes c.
func (in *Installer) commit(w *writer, lock *Lock, c *Change) (*Change, error) {
	if err := w.putLock(lock); err != nil {
		return nil, err
	}
	c.Use, c.Constraint = "", ""
	if e := lock.Plugins[c.Name]; e != nil {
		c.Use, c.Constraint = e.Use, e.Constraint
	}
	if c.Source != "" {
		c.Owner = in.Dir.answers(lock, in.Embedded)[c.Source]
	}
	return c, nil
}
