package deploy

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/plugin"
)

// Embedded says of a plugin that the binary carries where it came from.
const Embedded = "embedded"

// Locked returns what the lock of d wants to run and, as refused, the files
// that it does not list ([ErrUnlisted]). Embedded modules run where no plugin
// of their name is locked, and answer the sources that the lock gives to nobody:
// they are as trusted as the binary that carries them.
// Where a locked one is refused, the embedded one does not step in: it is not
// what the operator pinned. The error is about the lock itself, or d, and says
// that nothing is known of what shall run.
func (d Dir) Locked(embedded [][]byte) (p plugin.Plan, err error) {
	lock, warnings, err := d.load(embedded)
	if err != nil {
		return p, err
	}
	files, err := d.modules()
	if err != nil {
		return p, err
	}
	p.Sources, p.Warnings = d.answers(lock, embedded), warnings
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
				Read:   func(b *bytes.Buffer) ([]byte, error) { return d.readInto(b, name, version, pin) },
				Permit: func(m *abi.Manifest) error { return d.permit(m, pin) },
			}
			if w.Use {
				w.Constraint = e.Constraint
			}
			p.Wanted = append(p.Wanted, w)
			listed[w.From] = true
		}
	}
	for _, file := range files {
		if !listed[file] {
			p.Refused = append(p.Refused, d.unlisted(file))
		}
	}
	own, err := d.embedded(embedded, names)
	p.Wanted = append(p.Wanted, own...)
	return p, err
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
// of its name. One for the source of an embedded plugin of another name is
// refused, and so are all of several names for one source ([plugin.ErrContested]):
// without a lock nobody has said which to trust.
func (d Dir) Unlocked(embedded [][]byte) (p plugin.Plan, err error) {
	files, err := d.modules()
	if err != nil {
		return p, err
	}
	read, refusals := make([]opened, len(files)), make([]error, len(files))
	var reading contain.Group
	var begun atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(files)) { // most of it is hashing
		reading.Go(func() {
			var b bytes.Buffer
			for n := begun.Add(1) - 1; n < int64(len(files)); n = begun.Add(1) - 1 {
				read[n], refusals[n] = d.inspect(&b, files[n])
			}
		})
	}
	reading.Wait()
	var found []opened
	for n, err := range refusals {
		if err != nil {
			p.Refused = append(p.Refused, plugin.Refused{From: files[n], Err: err})
		} else {
			found = append(found, read[n])
		}
	}
	p.Sources = carried(embedded)
	contested := d.contest(found, p.Sources)
	names := map[string]bool{}
	for _, o := range found {
		w := o.wanted
		err := contested[w.From]
		if i := slices.IndexFunc(p.Wanted, func(o plugin.Wanted) bool { return o.Name == w.Name && o.Version == w.Version }); err == nil && i >= 0 {
			err = fmt.Errorf("%s is plugin %s %s, as %s is: remove one, or give it another version", w.From, w.Name, w.Version, p.Wanted[i].From)
		}
		if err != nil {
			p.Refused = append(p.Refused, plugin.Refused{Name: w.Name, Version: w.Version, From: w.From, Err: err})
			continue
		}
		names[w.Name] = true
		w.Read = func(b *bytes.Buffer) ([]byte, error) { return d.reread(b, w.From, w.SHA256) }
		p.Wanted = append(p.Wanted, w)
	}
	slices.SortStableFunc(p.Refused, func(a, b plugin.Refused) int { return strings.Compare(a.From, b.From) })
	own, err := d.embedded(embedded, names)
	if err != nil {
		return p, err
	}
	p.Wanted = append(p.Wanted, own...)
	slices.SortStableFunc(p.Wanted, func(a, b plugin.Wanted) int { return plugin.Newer(a.Version, b.Version) })
	seen := map[string]bool{}
	for i := range p.Wanted {
		p.Wanted[i].Use = !seen[p.Wanted[i].Name]
		seen[p.Wanted[i].Name] = true
	}
	return p, nil
}

// An opened file is a plugin of the directory.
type opened struct {
	manifest *abi.Manifest
	wanted   plugin.Wanted
}

// inspect reads the plugin in file, by way of b, and its signature where d wants one.
func (d Dir) inspect(b *bytes.Buffer, file string) (opened, error) {
	m, err := openInto(b, file)
	if err == nil {
		err = d.checkSignature(file, b.Bytes())
	}
	if err != nil {
		return opened{}, err
	}
	return opened{m, newWanted(m, b.Bytes(), file)}, nil
}

// contest returns, by file, why a plugin of found must not run: its source is that
// of a plugin of another name. sources says which sources the binary's own plugins
// answer; to it comes who answers the others, nobody where several could.
func (d Dir) contest(found []opened, sources map[string]string) map[string]error {
	own := maps.Clone(sources)
	files := map[string]map[string]string{} // by source and name: a file
	for _, o := range found {
		if m := o.manifest; m.Kind == abi.KindProvider {
			if files[m.Source] == nil {
				files[m.Source] = map[string]string{}
			}
			files[m.Source][m.Name] = o.wanted.From
		}
	}
	contested := map[string]error{}
	for _, o := range found {
		m, from := o.manifest, o.wanted.From
		if m.Kind != abi.KindProvider {
			continue
		}
		if owner := own[m.Source]; owner != "" {
			if owner != m.Name {
				contested[from] = fmt.Errorf("%w: the binary carries plugin %s for the source %s, and without a lock only a plugin of that name replaces it: give %s another source, or use a lock and `parley plugin install %s --take-source`",
					plugin.ErrContested, owner, m.Source, from, from)
			}
			continue
		}
		sources[m.Source] = m.Name
		if names := slices.Sorted(maps.Keys(files[m.Source])); len(names) > 1 {
			sources[m.Source] = ""
			var all []string
			for _, name := range names {
				all = append(all, files[m.Source][name])
			}
			contested[from] = fmt.Errorf("%w: %s are for the source %s, under different names, so that neither runs: remove one, or use a lock and choose with `parley plugin install FILE --take-source`",
				plugin.ErrContested, strings.Join(all, " and "), m.Source)
		}
	}
	return contested
}

// reread returns what file holds, in b, as long as it is what was seen before.
func (d Dir) reread(b *bytes.Buffer, file, sha256 string) ([]byte, error) {
	if err := plugin.ReadInto(b, file); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	module := b.Bytes()
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
		w.Read = func(*bytes.Buffer) ([]byte, error) { return module, nil }
		wanted = append(wanted, w)
	}
	return wanted, nil
}

func newWanted(m *abi.Manifest, module []byte, from string) plugin.Wanted {
	return plugin.Wanted{Name: m.Name, Version: m.Version, SHA256: hash(module), From: from}
}

// Trial wants module to run, and nothing else.
func Trial(module []byte) plugin.Plan {
	m, err := plugin.ReadManifest(module)
	if err != nil {
		m = &abi.Manifest{}
	}
	w := newWanted(m, module, "trial")
	w.Use = true
	w.Read = func(*bytes.Buffer) ([]byte, error) { return module, err }
	return plugin.Plan{Wanted: []plugin.Wanted{w}, Sources: map[string]string{m.Source: m.Name}}
}
