package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// A Remote is an installer for clients of the API: no path of theirs is read.
type Remote struct{ *Installer }

// Get reads the module of a URL, a reference into a registry, or NAME[@CONSTRAINT] in
// the deployment's registry.
func (r Remote) Get(ctx context.Context, source string) (*Fetched, error) {
	if _, _, _, err := SplitReference(source); err == nil {
		place, err := r.Dir.Locate(ctx, source)
		if err != nil {
			return nil, err
		}
		source = place
	}
	src, err := ParseSource(source)
	if err != nil {
		return nil, err
	}
	if src.url == nil && (src.image == nil || src.image.Layout != "") {
		return nil, errors.New("files of the machine are not read for clients: give a URL, oci://…, or a plugin's name")
	}
	return r.Dir.Fetch(ctx, src)
}

// Take returns the module of a file that a client sent under a name, with the
// signature that came with it.
func (r Remote) Take(name string, module, signature []byte) (*Fetched, error) {
	if r.Dir.PublicKey != nil && len(signature) == 0 {
		return nil, fmt.Errorf("%s comes without a signature, and --plugin-public-key wants that of key %s: send the file %s%s with it", name, r.Dir.PublicKey.ID(), name, signatureSuffix)
	}
	return &Fetched{Module: module, Signature: signature, Place: name}, nil
}

// A Preview is what a version would change, before it is installed or pinned.
type Preview struct {
	// Old is absent where there is nothing that New would take the place of; all of
	// New is a change then.
	Old         *Side        `json:"old,omitempty"`
	New         Side         `json:"new"`
	Kind        string       `json:"kind"`
	Source      string       `json:"source,omitempty"` // of a provider
	Owner       string       `json:"owner,omitempty"`  // the plugin that answers Source now
	Description string       `json:"description,omitempty"`
	Grants      Grants       `json:"grants"`  // of New
	Widened     Grants       `json:"widened"` // those that Old does not have
	Changes     []Difference `json:"changes"`
}

// Preview compares what before and after name: NAME, NAME@VERSION that is in the
// directory, or what Get takes. Where before is empty, it is the version of after's
// name that is in use.
func (r Remote) Preview(ctx context.Context, before, after string) (*Preview, error) {
	next, err := r.find(ctx, after)
	if err != nil {
		return nil, err
	}
	if before == "" {
		return r.PreviewFetched(&Fetched{Module: next, Place: cut(after)})
	}
	m, err := plugin.ReadManifest(next)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", cut(after), err)
	}
	old, err := r.find(ctx, before)
	if err != nil {
		return nil, err
	}
	return r.preview(old, next, m)
}

// PreviewFetched compares f with the version of its name that is in use.
func (r Remote) PreviewFetched(f *Fetched) (*Preview, error) {
	m, err := plugin.ReadManifest(f.Module)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Place, err)
	}
	old, err := r.local(m.Name, "")
	if err != nil && !errors.Is(err, errNotHere) {
		return nil, err
	}
	return r.preview(old, f.Module, m)
}

// preview compares old, nil where there is none, with next, whose manifest is m.
func (r Remote) preview(old, next []byte, m *abi.Manifest) (*Preview, error) {
	p := &Preview{Kind: m.Kind, Source: m.Source, Description: m.Description, Grants: newGrants(m)}
	d, err := Compare(old, next)
	if err != nil {
		return nil, err
	}
	if p.New, p.Widened, p.Changes = d.New, d.Widened, d.Changes; old != nil {
		p.Old = &d.Old
	}
	lock, _, err := r.Dir.load(r.Embedded)
	if err != nil {
		return nil, err
	}
	if m.Kind == abi.KindProvider {
		p.Owner = r.Dir.answers(lock, r.Embedded)[m.Source]
	}
	return p, nil
}

// find returns what ref names, in the directory before the registry.
func (r Remote) find(ctx context.Context, ref string) ([]byte, error) {
	if ref == "" {
		return nil, errors.New("`new` is missing: NAME, NAME@VERSION, a URL or oci://…")
	}
	name, version, given, err := SplitReference(ref)
	if version = strings.TrimPrefix(version, "="); err == nil && (!given || plugin.ValidVersion(version)) {
		module, err := r.local(name, version)
		if err == nil || !errors.Is(err, errNotHere) || r.Dir.Registry == "" {
			return module, err
		}
	}
	f, err := r.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return f.Module, nil
}

var errNotHere = errors.New("it is not in the plugin directory")

// local returns a pinned version, or what the binary carries; an empty version is
// the one in use.
func (r Remote) local(name, version string) ([]byte, error) {
	lock, err := ReadLock(r.Dir.Path)
	if err != nil {
		return nil, err
	}
	e := lock.Plugins[name]
	if e != nil && version == "" {
		version = e.Use
	}
	if e != nil && e.Pinned[version] != nil {
		return r.Dir.read(name, version, e.Pinned[version])
	}
	for _, module := range r.Embedded {
		if m, err := plugin.ReadManifest(module); err == nil && m.Name == name && (version == "" || version == m.Version) {
			return module, nil
		}
	}
	return nil, fmt.Errorf("plugin %s %s: %w", name, version, errNotHere)
}

// SHA256 is that of the module, in hexadecimal.
func (f *Fetched) SHA256() string { return hash(f.Module) }
