package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/plugin"
)

// SplitReference takes NAME[@CONSTRAINT] apart; given says whether there is an
// @, with nothing behind it for any version.
func SplitReference(s string) (name, constraint string, given bool, err error) {
	name, constraint, given = strings.Cut(s, "@")
	if !plugin.ValidName(name) {
		return "", "", false, fmt.Errorf("%q names no plugin: a name is 1 to 64 of a-z, 0-9 and -, a letter first", cut(name))
	}
	if _, err := plugin.ParseConstraint(constraint); err != nil {
		return "", "", false, err
	}
	return name, constraint, given, nil
}

// IsReference reports whether s may be NAME[@CONSTRAINT] of a plugin.
func IsReference(s string) bool {
	_, _, _, err := SplitReference(s)
	return err == nil
}

// Meets reports whether the version of the plugin name is what NAME[@CONSTRAINT]
// allows.
func Meets(name, version, reference string) (bool, error) {
	wanted, constraint, _, err := SplitReference(reference)
	if err != nil {
		return false, err
	}
	c, err := plugin.ParseConstraint(constraint)
	return err == nil && name == wanted && c.Allows(version), err
}

// Pin takes in use the newest version in the directory, pinned or not, that
// the constraint of NAME[@CONSTRAINT] allows. Without @ the constraint in the
// lock is resolved anew. Of o it heeds Grant and TakeSource.
func (in *Installer) Pin(ctx context.Context, reference string, o InstallOptions) (*Change, error) {
	name, constraint, given, err := SplitReference(reference)
	if err != nil {
		return nil, err
	}
	w, err := in.Dir.write(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	lock, _, err := in.Dir.load(in.Embedded)
	if err != nil {
		return nil, err
	}
	e := lock.Plugins[name]
	if e != nil && !given {
		constraint = e.Constraint
	}
	version, err := in.resolve(name, constraint, e)
	if err != nil {
		return nil, err
	}
	file := in.Dir.file(name, version)
	module, m, err := open(file)
	if err != nil {
		return nil, err
	}
	if err := in.Dir.checkSignature(file, module); err != nil {
		return nil, err
	}
	if e == nil || e.Pinned[version] == nil {
		if err := in.Try(ctx, module); err != nil {
			return nil, fmt.Errorf("pin %s: %w", file, err)
		}
	} else if found := hash(module); found != e.Pinned[version].SHA256 {
		_, err := in.Dir.read(name, version, e.Pinned[version])
		return nil, err
	}
	exact := name + "@" + version
	c, err := in.admit(lock, m, module, InstallOptions{Grant: o.Grant, TakeSource: o.TakeSource}, "pin "+exact, exact)
	if err != nil {
		return nil, err
	}
	lock.use(m, constraint, c.OwnerBefore, o.TakeSource)
	return in.commit(w, lock, c)
}

// resolve finds the newest version of name that constraint allows, among the
// files of the directory and the pinned versions: a pinned one whose file is
// gone is no reason to take an older one silently.
func (in *Installer) resolve(name, constraint string, e *Entry) (string, error) {
	c, err := plugin.ParseConstraint(constraint)
	if err != nil {
		return "", err
	}
	var there []string
	if e != nil {
		there = e.versions()
	}
	files, err := in.Dir.modules()
	if err != nil {
		return "", err
	}
	for _, file := range files {
		// The name of the file is a hint which to open; what counts is inside.
		if !strings.HasPrefix(file, strings.TrimSuffix(in.Dir.file(name, ""), ".wasm")) {
			continue
		}
		if _, m, err := open(file); err == nil && m.Name == name && file == in.Dir.file(name, m.Version) && !slices.Contains(there, m.Version) {
			there = append(there, m.Version)
		}
	}
	// Versions that differ in what stands behind + alone are equal to a
	// constraint, but not to who wrote one of them out.
	if exact := strings.TrimPrefix(constraint, "="); slices.Contains(there, exact) {
		return exact, nil
	}
	slices.SortFunc(there, plugin.Newer)
	for _, version := range there {
		if c.Allows(version) {
			return version, nil
		}
	}
	if len(there) == 0 {
		return "", fmt.Errorf("%s holds no version of plugin %s: get one by %s", in.Dir.Path, name, in.Dir.command("install FILE-or-URL"))
	}
	return "", fmt.Errorf("%s holds plugin %s %s, and none meets %s: get one that does by %s, or pin another", in.Dir.Path, name, strings.Join(there, ", "), constraint, in.Dir.command("install FILE-or-URL"))
}

// Rollback brings back what was before the last change of plugin name: the version
// in use with its constraint, and whose the sources were. Done twice it changes
// nothing.
func (in *Installer) Rollback(ctx context.Context, name string) (*Change, error) {
	w, err := in.Dir.write(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	lock, e, err := in.entry(name)
	if err != nil {
		return nil, err
	}
	if e.Before == nil {
		return nil, fmt.Errorf("plugin %s has had no version in use but %s: pin another by %s", name, e.Use, in.Dir.command("pin %s@VERSION", name))
	}
	pin := e.Pinned[e.Before.Use]
	module, err := in.Dir.read(name, e.Before.Use, pin)
	if err != nil {
		return nil, fmt.Errorf("roll back plugin %s: %w", name, err)
	}
	m, err := plugin.ReadManifest(module)
	if err != nil {
		return nil, fmt.Errorf("roll back plugin %s: %w", name, err)
	}
	c := &Change{Name: name, Version: e.Before.Use, File: in.Dir.file(name, e.Before.Use), SHA256: pin.SHA256, Grants: pin.Grants, Before: e.Use, Source: m.Source}
	c.OwnerBefore = in.Dir.answers(lock, in.Embedded)[m.Source]
	before := e.Before
	e.Before = &Former{e.Choice, nil}
	e.Choice = before.Choice
	for source, owner := range before.Sources {
		if _, err := in.inUse(lock, owner); err != nil && owner != "" {
			return nil, fmt.Errorf("roll back plugin %s: the source %s cannot go back to plugin %s: %w", name, source, owner, err)
		}
		if e.Before.Sources == nil {
			e.Before.Sources = map[string]string{}
		}
		e.Before.Sources[source] = lock.Sources[source]
		lock.bind(source, owner)
	}
	return in.commit(w, lock, c)
}

// Remove takes the version of NAME@VERSION, or all of NAME, out of the lock
// and out of the directory. The version in use goes only with all others.
func (in *Installer) Remove(ctx context.Context, reference string) (*Change, error) {
	name, version, one, err := SplitReference(reference)
	if err != nil {
		return nil, err
	}
	if version = strings.TrimPrefix(version, "="); one && !plugin.ValidVersion(version) {
		return nil, fmt.Errorf("%q names no version: say which one to remove, such as %s@1.2.0", cut(version), name)
	}
	w, err := in.Dir.write(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	lock, e, err := in.entry(name)
	if err != nil {
		return nil, err
	}
	c := &Change{Name: name, Before: e.Use, Removed: e.versions()}
	if one {
		if err := e.remove(in.Dir, name, version); err != nil {
			return nil, err
		}
		c.Removed = []string{version}
	} else {
		delete(lock.Plugins, name)
		lock.release(name)
	}
	// The lock first: what it does not name may go at any time.
	if c, err = in.commit(w, lock, c); err != nil {
		return nil, err
	}
	for _, v := range c.Removed {
		file := plugin.FileName(name, v)
		if err := errors.Join(w.drop(file), w.drop(file+signatureSuffix)); err != nil {
			return nil, fmt.Errorf("plugin %s %s is no longer pinned, but its file stays: %w", name, v, err)
		}
	}
	return c, w.sync()
}

// remove takes version out of the entry of name.
func (e *Entry) remove(d Dir, name, version string) error {
	switch {
	case e.Pinned[version] == nil:
		return fmt.Errorf("the lock pins plugin %s %s, and not %s", name, strings.Join(e.versions(), ", "), version)
	case version == e.Use && len(e.Pinned) > 1:
		return fmt.Errorf("plugin %s %s is in use: pin another first by %s, or remove all by %s", name, version, d.command("pin %s@VERSION", name), d.command("remove %s", name))
	case version == e.Use:
		return fmt.Errorf("plugin %s %s is in use, and the only one: remove all of it by %s", name, version, d.command("remove %s", name))
	}
	delete(e.Pinned, version)
	if e.Before != nil && e.Before.Use == version {
		e.Before = nil
	}
	return nil
}

// entry reads the lock and what it says of name.
func (in *Installer) entry(name string) (*Lock, *Entry, error) {
	lock, _, err := in.Dir.load(in.Embedded)
	if err != nil {
		return nil, nil, err
	}
	if e := lock.Plugins[name]; e != nil {
		return lock, e, nil
	}
	if _, err := in.Dir.modules(); errors.Is(err, fs.ErrNotExist) || len(lock.Plugins) == 0 {
		return nil, nil, fmt.Errorf("the lock in %s pins no plugin %s, nor any other: get one by %s", in.Dir.Path, cut(name), in.Dir.command("install FILE-or-URL"))
	}
	return nil, nil, fmt.Errorf("the lock in %s pins no plugin %s: it has %s", in.Dir.Path, cut(name), strings.Join(lock.names(), ", "))
}

// Find returns the module that ref means: NAME, for the version in use or what
// the binary carries; NAME@VERSION, pinned or not; or FILE-or-URL[@sha256].
func (in *Installer) Find(ctx context.Context, ref string) ([]byte, error) {
	name, version, one, err := SplitReference(ref)
	if version = strings.TrimPrefix(version, "="); err == nil && one && plugin.ValidVersion(version) {
		module, err := plugin.ReadFile(in.Dir.file(name, version))
		if err != nil {
			return nil, fmt.Errorf("read plugin: %w", err)
		}
		return module, nil
	}
	if err == nil && !one {
		lock, err := ReadLock(in.Dir.Path)
		if err != nil {
			return nil, err
		}
		if e := lock.Plugins[name]; e != nil {
			return in.Dir.read(name, e.Use, e.Pinned[e.Use])
		}
		for _, module := range in.Embedded {
			if m, err := plugin.ReadManifest(module); err == nil && m.Name == name {
				return module, nil
			}
		}
	}
	src, err := ParseSource(ref)
	if err != nil {
		return nil, err
	}
	f, err := in.Dir.Fetch(ctx, src)
	if err != nil {
		return nil, err
	}
	return f.Module, nil
}
