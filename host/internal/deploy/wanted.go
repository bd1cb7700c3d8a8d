package deploy

import (
	"fmt"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// Embedded says of a plugin that the binary carries where it came from.
const Embedded = "embedded"

// Locked returns what the lock of d wants to run and, as refused, the files
// that it does not list ([ErrUnlisted]). Embedded modules run where no plugin
// of their name is locked: they are as trusted as the binary that carries them.
// Where a locked one is refused, the embedded one does not step in: it is not
// what the operator pinned. The error is about the lock itself, or d, and says
// that nothing is known of what shall run.
func (d Dir) Locked(embedded [][]byte) (wanted []plugin.Wanted, refused []plugin.Refused, err error) {
	lock, err := ReadLock(d.Path)
	if err != nil {
		return nil, nil, err
	}
	files, err := d.modules()
	if err != nil {
		return nil, nil, err
	}
	names := map[string]bool{}
	listed := map[string]bool{}
	for _, name := range lock.names() {
		names[name] = true
		e := lock.Plugins[name]
		for _, version := range e.versions() {
			pin := e.Pinned[version]
			w := plugin.Wanted{
				Name: name, Version: version, SHA256: pin.SHA256, From: d.file(name, version),
				Use: version == e.Use, Locked: true,
				Read:   func() ([]byte, error) { return d.read(name, version, pin) },
				Permit: func(m *abi.Manifest) error { return d.permit(m, pin) },
			}
			if w.Use {
				w.Constraint = e.Constraint
			}
			wanted = append(wanted, w)
			listed[w.From] = true
		}
	}
	for _, file := range files {
		if !listed[file] {
			refused = append(refused, d.unlisted(file))
		}
	}
	carried, err := d.embedded(embedded, names)
	return append(wanted, carried...), refused, err
}

// unlisted refuses file and says how to pin it.
func (d Dir) unlisted(file string) plugin.Refused {
	r := plugin.Refused{From: file}
	_, m, err := open(file)
	switch {
	case err != nil:
		r.Err = fmt.Errorf("%w, nor could it be: %w", ErrUnlisted, err)
	case file == d.file(m.Name, m.Version):
		r.Name, r.Version = m.Name, m.Version
		r.Err = fmt.Errorf("%w: pin it by %s", ErrUnlisted, d.command("pin %s@%s", m.Name, m.Version))
	default:
		r.Name, r.Version = m.Name, m.Version
		r.Err = fmt.Errorf("%w: install it under its proper name by %s", ErrUnlisted, d.command("install %s", file))
	}
	return r
}

// Unlocked returns whatever d holds, for development: of each name the newest
// version is in use. A plugin of the directory stands in for the embedded one
// of its name.
func (d Dir) Unlocked(embedded [][]byte) (wanted []plugin.Wanted, refused []plugin.Refused, err error) {
	files, err := d.modules()
	if err != nil {
		return nil, nil, err
	}
	names := map[string]bool{}
	for _, file := range files {
		module, m, err := open(file)
		if err == nil {
			err = d.checkSignature(file, module)
		}
		if err != nil {
			refused = append(refused, plugin.Refused{From: file, Err: err})
			continue
		}
		names[m.Name] = true
		w := newWanted(m, module, file)
		if i := slices.IndexFunc(wanted, func(o plugin.Wanted) bool { return o.Name == w.Name && o.Version == w.Version }); i >= 0 {
			err := fmt.Errorf("%s is plugin %s %s, as %s is: remove one, or give it another version", file, w.Name, w.Version, wanted[i].From)
			refused = append(refused, plugin.Refused{Name: w.Name, Version: w.Version, From: file, Err: err})
			continue
		}
		w.Read = func() ([]byte, error) { return d.reread(file, w.SHA256) }
		wanted = append(wanted, w)
	}
	carried, err := d.embedded(embedded, names)
	if err != nil {
		return nil, nil, err
	}
	wanted = append(wanted, carried...)
	slices.SortStableFunc(wanted, func(a, b plugin.Wanted) int { return plugin.Newer(a.Version, b.Version) })
	seen := map[string]bool{}
	for i := range wanted {
		wanted[i].Use = !seen[wanted[i].Name]
		seen[wanted[i].Name] = true
	}
	return wanted, refused, nil
}

// reread returns what file holds as long as it is what was seen before.
func (d Dir) reread(file, sha256 string) ([]byte, error) {
	module, err := plugin.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if found := hash(module); found != sha256 {
		return nil, fmt.Errorf("%s changed while it was read: it had sha256 %s, and has %s", file, sha256, found)
	}
	return module, d.checkSignature(file, module)
}

// embedded returns the modules of the binary but those of names.
func (d Dir) embedded(modules [][]byte, names map[string]bool) ([]plugin.Wanted, error) {
	var wanted []plugin.Wanted
	for i, module := range modules {
		m, err := plugin.ReadManifest(module)
		if err != nil {
			return nil, fmt.Errorf("read embedded plugin %d: %w", i, err)
		}
		if names[m.Name] {
			continue
		}
		w := newWanted(m, module, Embedded)
		w.Use = true
		w.Read = func() ([]byte, error) { return module, nil }
		wanted = append(wanted, w)
	}
	return wanted, nil
}

func newWanted(m *abi.Manifest, module []byte, from string) plugin.Wanted {
	return plugin.Wanted{Name: m.Name, Version: m.Version, SHA256: hash(module), From: from}
}

// Trial wants module to run, and nothing else.
func Trial(module []byte) []plugin.Wanted {
	m, err := plugin.ReadManifest(module)
	if err != nil {
		m = &abi.Manifest{}
	}
	w := newWanted(m, module, "trial")
	w.Use = true
	w.Read = func() ([]byte, error) { return module, err }
	return []plugin.Wanted{w}
}
