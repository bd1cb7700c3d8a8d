package deploy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// A Diff is what an upgrade from one module to another changes.
type Diff struct {
	Old Side `json:"old"`
	New Side `json:"new"`
	// Widened is what the new one asks for and the old one did not.
	Widened Grants       `json:"widened"`
	Changes []Difference `json:"changes"` // in groups
}

// A Side is one of two modules.
type Side struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	Size    int    `json:"size"` // bytes
}

// A Difference is one thing that differs. Old is empty for what came, New for what
// went.
type Difference struct {
	// Group is grants, settings, events, metrics or another member of the
	// manifest; or module, exports or imports.
	Group string `json:"group"`
	Path  string `json:"path"` // within the group
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
}

// firstGroups are what an operator reads first; the others follow by name.
var firstGroups = []string{"grants", "settings", "limits", "events", "metrics", "module", "imports", "exports"}

// Diff compares two plugins, each a pinned one (NAME, for the version in use,
// or NAME@VERSION) or FILE-or-URL[@sha256].
func (in *Installer) Diff(ctx context.Context, before, after string) (*Diff, error) {
	var modules [2][]byte
	for n, ref := range []string{before, after} {
		var err error
		if modules[n], err = in.Find(ctx, ref); err != nil {
			return nil, fmt.Errorf("compare plugins: %w", err)
		}
	}
	return Compare(modules[0], modules[1])
}

// Compare says what differs between two modules, of whatever name. Without the first
// one, all of the second one came.
func Compare(before, after []byte) (*Diff, error) {
	a := &half{}
	if before != nil {
		var err error
		if a, err = newHalf(before); err != nil {
			return nil, fmt.Errorf("read old plugin: %w", err)
		}
	}
	b, err := newHalf(after)
	if err != nil {
		return nil, fmt.Errorf("read new plugin: %w", err)
	}
	d := &Diff{
		Old: a.side, New: b.side, Changes: []Difference{},
		Widened: b.grants.beyond(a.grants),
	}
	keys := map[facet]bool{}
	maps.Copy(keys, present(a.facts))
	maps.Copy(keys, present(b.facts))
	for k := range keys {
		if a.facts[k] != b.facts[k] {
			d.Changes = append(d.Changes, Difference{k.group, k.path, cutLong(a.facts[k]), cutLong(b.facts[k])})
		}
	}
	slices.SortFunc(d.Changes, func(x, y Difference) int {
		if c := rank(x.Group) - rank(y.Group); c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(x.Group, y.Group), strings.Compare(x.Path, y.Path))
	})
	return d, nil
}

// A facet is one thing that can be said of a module.
type facet struct{ group, path string }

// half is what Compare knows of one module.
type half struct {
	side   Side
	grants Grants
	facts  map[facet]string
}

func newHalf(module []byte) (*half, error) {
	if _, err := plugin.ReadManifest(module); err != nil {
		return nil, err
	}
	r, err := plugin.Inspect(module)
	if err != nil {
		return nil, err
	}
	h := &half{Side{r.Manifest.Name, r.Manifest.Version, r.SHA256, r.Size}, newGrants(r.Manifest), map[facet]string{}}
	h.facts[facet{"module", "abi"}] = strconv.Itoa(r.Manifest.ABI)
	h.facts[facet{"module", "size"}] = strconv.Itoa(r.Size)
	h.facts[facet{"module", "memory at the start, KiB"}] = strconv.Itoa(r.MemoryKiB)
	h.facts[facet{"module", "unmetered"}] = r.Unmetered
	for _, p := range r.Problems {
		h.facts[facet{"module", "problem"}] += p
	}
	for _, i := range r.Imports {
		h.facts[facet{"imports", i.Name}] = i.Kind + " " + i.Signature
	}
	for _, e := range r.Exports {
		h.facts[facet{"exports", e.Name}] = e.Kind + " " + e.Signature
	}
	return h, h.manifest(module)
}

// manifest adds every member, known or not: what a later version of the
// contract adds differs too.
func (h *half) manifest(module []byte) error {
	sections, err := abi.Sections(module, abi.SectionManifest)
	if err != nil {
		return err
	}
	var members map[string]any
	if err := json.Unmarshal(sections[0], &members); err != nil { // ReadManifest saw one
		return err
	}
	for name, v := range members {
		if name != "name" && name != "version" && name != "abi" {
			h.flatten(name, "", v)
		}
	}
	return nil
}

// flatten adds v, which stands at path in group. A list of texts is a set; of
// objects, each goes by its path or name.
func (h *half) flatten(group, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 && path != "" {
			h.facts[facet{group, path}] = "{}" // a setting without rules is one
		}
		for name, member := range v {
			h.flatten(group, join(path, name), member)
		}
	case []any:
		for n, element := range v {
			switch e := element.(type) {
			case string:
				h.facts[facet{group, join(path, e)}] = "yes"
			case map[string]any:
				h.object(group, join(path, label(e, n)), e)
			default:
				h.flatten(group, join(path, strconv.Itoa(n)), e)
			}
		}
	default:
		b, _ := json.Marshal(v) // it came from JSON
		h.facts[facet{group, path}] = string(b)
	}
}

// object adds an element of a list, which is there even if it has no members
// but its label. Of a self-test nobody compares the parts.
func (h *half) object(group, path string, e map[string]any) {
	if group == "selfTest" {
		b, _ := json.Marshal(e) // it came from JSON
		h.facts[facet{group, path}] = string(b)
		return
	}
	h.facts[facet{group, path}] = "yes"
	for name, member := range e {
		if name != "path" && name != "name" {
			h.flatten(group, join(path, name), member)
		}
	}
}

// label is what the element n of a list goes by.
func label(e map[string]any, n int) string {
	for _, key := range []string{"path", "name"} {
		if s, ok := e[key].(string); ok && s != "" {
			return s
		}
	}
	return strconv.Itoa(n)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func present(facts map[facet]string) map[facet]bool {
	keys := map[facet]bool{}
	for k := range facts {
		keys[k] = true
	}
	return keys
}

func rank(group string) int {
	if n := slices.Index(firstGroups, group); n >= 0 {
		return n
	}
	return len(firstGroups)
}

// maxShown bounds what is shown of one value, in bytes.
const maxShown = 200

func cutLong(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}
