package deploy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/registry"
)

// maxOrigin bounds what a lock says of where a plugin came from, in bytes.
const maxOrigin = 1024

// validOrigin reports whether s may be a [Pin.From].
func validOrigin(s string) bool {
	if len(s) > maxOrigin {
		return false
	}
	src, err := ParseSource(s)
	return src.url != nil || src.image != nil && err == nil
}

// place is where the module of p can be had again, for a command.
func (p *Pin) place() string {
	switch {
	case registry.IsReference(p.From):
		return p.From
	case p.From != "":
		return p.From + "@" + p.SHA256
	}
	return "FILE-or-URL@" + p.SHA256
}

func (d Dir) client() *registry.Client {
	return &registry.Client{Transport: d.Transport, MaxModule: plugin.MaxModule}
}

// pull reads the module that r names.
func (d Dir) pull(ctx context.Context, r registry.Reference) (*Fetched, error) {
	if r.Tag == "" && r.Digest == "" {
		newest, err := d.newest(ctx, r)
		if err != nil {
			return nil, err
		}
		r.Tag = newest
	}
	a, err := d.client().Pull(ctx, r)
	if err != nil {
		return nil, err
	}
	f := &Fetched{Module: a.Module, Place: r.String()}
	m, err := plugin.ReadManifest(a.Module)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r, err)
	}
	if err := checkTag(r, m); err != nil {
		return nil, err
	}
	if len(a.Signatures) == 0 && r.Layout != "" {
		beside, err := readSignature(filepath.Join(r.Layout, plugin.FileName(m.Name, m.Version)))
		if err != nil {
			return nil, err
		}
		if beside != nil {
			a.Signatures = [][]byte{beside}
		}
	}
	f.Signature = d.choose(f, a.Signatures)
	r.Digest = a.Digest
	if f.Origin = r.String(); len(f.Origin) > maxOrigin {
		return nil, fmt.Errorf("%s is longer than the %d bytes that a lock notes", cut(f.Origin), maxOrigin)
	}
	return f, nil
}

// checkTag refuses a tag that says another version than m has, or than m's beginning:
// "1.2" may hold 1.2.3. One that is no version says nothing.
func checkTag(r registry.Reference, m *abi.Manifest) error {
	tag := r.Tag
	if r.Layout != "" {
		tag = strings.TrimPrefix(tag, m.Name+"-")
	}
	tag = strings.ReplaceAll(strings.TrimPrefix(tag, "v"), "_", "+")
	says := plugin.ValidVersion(tag) && tag != m.Version || partialVersion.MatchString(tag) && !strings.HasPrefix(m.Version, tag+".")
	if says {
		return fmt.Errorf("%s holds plugin %s %s, and its tag names another version: ask who publishes it, or name it by its digest alone if this version is meant", r, m.Name, m.Version)
	}
	return nil
}

// partialVersion is a tag that moves from version to version.
var partialVersion = regexp.MustCompile(`^\d+(\.\d+)?$`)

// choose returns the signature that d wants or, where it wants none or none of them
// is by its key, the first.
func (d Dir) choose(f *Fetched, signatures [][]byte) []byte {
	for _, s := range signatures {
		if d.PublicKey != nil && d.PublicKey.Verify(f.Place, f.Module, s) == nil {
			return s
		}
	}
	if len(signatures) == 0 {
		return nil
	}
	return signatures[0]
}

// newest returns the tag of the newest version at r, whose tag and digest are
// empty; of a layout, the only one.
func (d Dir) newest(ctx context.Context, r registry.Reference) (string, error) {
	tags, err := d.client().Tags(ctx, r)
	if err != nil {
		return "", err
	}
	if r.Layout != "" {
		if len(tags) != 1 {
			return "", fmt.Errorf("%s holds several plugins, or none: say which by its tag, of %s", r, listed(tags))
		}
		return tags[0], nil
	}
	versions := versionsOf(r, "", tags)
	if len(versions) == 0 {
		return "", fmt.Errorf("%s has no tag that is a version such as 1.2.0: say which tag or digest, of %s", r, listed(tags))
	}
	return tagOf(versions[0]), nil
}

// listed shows some tags in a message.
func listed(tags []string) string {
	if len(tags) == 0 {
		return "none"
	}
	slices.Sort(tags)
	shown := strings.Join(tags[:min(len(tags), 20)], ", ")
	if len(tags) > 20 {
		shown += " and " + strconv.Itoa(len(tags)-20) + " more"
	}
	return shown
}

// tagOf is what a version is called in a registry, where + may not stand.
func tagOf(version string) string { return strings.ReplaceAll(version, "+", "_") }

// layoutTag is what a version is called in a layout, which may hold many plugins.
func layoutTag(name, version string) string { return name + "-" + tagOf(version) }

// versionsOf returns which of tags at r are versions of the plugin name, the newest
// first.
func versionsOf(r registry.Reference, name string, tags []string) []string {
	var all []string
	for _, tag := range tags {
		if r.Layout != "" {
			var ok bool
			if tag, ok = strings.CutPrefix(tag, name+"-"); !ok {
				continue
			}
		}
		if v := strings.ReplaceAll(tag, "_", "+"); plugin.ValidVersion(v) {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, plugin.Newer)
	return all
}

// A Published is what a push came to.
type Published struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	// Reference names it, with the digest of its manifest.
	Reference string `json:"reference"`
	Signed    bool   `json:"signed"`
}

// Push is [Dir.Publish] for what source names, see [ParseSource].
func (in *Installer) Push(ctx context.Context, source, to string, created time.Time) (*Published, error) {
	f, err := in.Dir.fetchFrom(ctx, source)
	if err != nil {
		return nil, err
	}
	return in.Dir.Publish(ctx, f, to, created)
}

// Publish pushes f to a registry or a layout, created at a time that its manifest
// notes. Without a tag it gets that of its version.
func (d Dir) Publish(ctx context.Context, f *Fetched, to string, created time.Time) (*Published, error) {
	r, err := registry.ParseReference(to)
	if err != nil {
		return nil, err
	}
	m, err := plugin.ReadManifest(f.Module)
	if err != nil {
		return nil, fmt.Errorf("publish %s: %w", f.Place, err)
	}
	if d.PublicKey != nil {
		if err := d.PublicKey.Verify(f.Place, f.Module, f.Signature); err != nil {
			return nil, err
		}
	}
	own := tagOf(m.Version)
	if r.Layout != "" {
		own = layoutTag(m.Name, m.Version)
	}
	if r.Tag == "" {
		r.Tag = own
	}
	i := registry.Image{Module: f.Module, Annotations: annotations(m), Created: created, Fixed: r.Tag == own}
	if len(f.Signature) > 0 {
		i.Signatures = [][]byte{f.Signature}
	}
	if r.Digest, err = d.client().Push(ctx, r, i); err != nil {
		return nil, err
	}
	return &Published{m.Name, m.Version, hash(f.Module), r.String(), len(f.Signature) > 0}, nil
}

// annotations says of a module, to who looks at a registry, what is in it.
func annotations(m *abi.Manifest) map[string]string {
	all := map[string]string{
		"org.opencontainers.image.title":       plugin.FileName(m.Name, m.Version),
		"org.opencontainers.image.version":     m.Version,
		"org.opencontainers.image.description": m.Description,
		"org.opencontainers.image.licenses":    m.License,
		"org.opencontainers.image.url":         m.Homepage,
		"dev.parley.plugin.abi":                strconv.Itoa(m.ABI),
		"dev.parley.plugin.kind":               m.Kind,
		"dev.parley.plugin.source":             m.Source,
	}
	for key, value := range all {
		if value == "" {
			delete(all, key)
		}
	}
	return all
}

// Save publishes a version in the directory to the layout in folder. ref is NAME,
// for the version in use, or NAME@VERSION.
func (in *Installer) Save(ctx context.Context, ref, folder string, created time.Time) (*Published, error) {
	name, version, given, err := SplitReference(ref)
	if err != nil {
		return nil, err
	}
	if version = strings.TrimPrefix(version, "="); given && !plugin.ValidVersion(version) {
		return nil, fmt.Errorf("%q names no version: say which one to save, such as %s@1.2.0", cut(version), name)
	}
	_, e, err := in.entry(name)
	if err != nil {
		return nil, err
	}
	if !given {
		version = e.Use
	}
	pin := e.Pinned[version]
	if pin == nil {
		return nil, fmt.Errorf("the lock pins plugin %s %s, and not %s", name, strings.Join(e.versions(), ", "), version)
	}
	module, err := in.Dir.read(name, version, pin)
	if err != nil {
		return nil, err
	}
	file := in.Dir.file(name, version)
	signature, err := readSignature(file)
	if err != nil {
		return nil, err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	return in.Dir.Publish(ctx, &Fetched{Module: module, Signature: signature, Place: file}, registry.Reference{Layout: folder}.String(), created)
}

// Locate finds NAME[@CONSTRAINT] in d's registry: the reference of its newest
// version that the constraint allows.
func (d Dir) Locate(ctx context.Context, ref string) (string, error) {
	name, constraint, _, err := SplitReference(ref)
	if err != nil {
		return "", err
	}
	if d.Registry == "" {
		return "", fmt.Errorf("plugin %s has no place: give a file, a URL or oci://…, or name the registry that names are looked up in by --plugin-registry", name)
	}
	r, err := registry.ParseReference(strings.TrimSuffix(d.Registry, "/") + "/" + name)
	if err != nil {
		return "", err
	}
	tags, err := d.client().Tags(ctx, r)
	if errors.Is(err, registry.ErrNotFound) {
		return "", fmt.Errorf("the registry of --plugin-registry has no plugin %s: %w", name, err)
	}
	if err != nil {
		return "", err
	}
	versions := versionsOf(r, name, tags)
	c, err := plugin.ParseConstraint(constraint)
	if err != nil {
		return "", err
	}
	if n := slices.IndexFunc(versions, c.Allows); n >= 0 {
		r.Tag = tagOf(versions[n])
		return r.String(), nil
	}
	return "", fmt.Errorf("%s has no version that meets %q: it has %s", r, constraint, listed(versions))
}

// ParseRegistry reads the place under which plugins are looked up by name.
func ParseRegistry(s string) (string, error) {
	if !strings.Contains(s, "://") {
		s = "oci://" + s
	}
	r, err := registry.ParseReference(strings.TrimSuffix(s, "/"))
	if err != nil {
		return "", err
	}
	if r.Layout != "" || r.Tag != "" || r.Digest != "" {
		return "", errors.New("it is not the beginning of repositories in a registry, without tag and digest")
	}
	return r.String(), nil
}
