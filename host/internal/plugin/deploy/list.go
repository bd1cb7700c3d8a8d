package deploy

import (
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/plugin"
)

// An Item is one version that the lock names, or a file that it does not.
type Item struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Kind       string `json:"kind,omitempty"`   // where the module can be read
	Source     string `json:"source,omitempty"` // of a provider
	Owner      string `json:"owner,omitempty"`  // the plugin that answers Source where a workspace names none
	ABI        int    `json:"abi"`
	SHA256     string `json:"sha256"` // pinned; of an unlisted file, its own
	File       string `json:"file"`
	Use        bool   `json:"use"`
	Before     bool   `json:"before"`     // what a rollback takes in use
	Constraint string `json:"constraint"` // of the version in use
	Grants     Grants `json:"grants"`     // accepted; of an unlisted file, asked for
	// State is "pinned" where all is as it should be, "missing", "refused",
	// "edited" where the lock accepts what nobody asked for, or "unlisted".
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"` // why it is not "pinned", and what to do
}

// The states of an [Item].
const (
	StatePinned   = "pinned"
	StateMissing  = "missing"
	StateRefused  = "refused"
	StateEdited   = "edited"
	StateUnlisted = "unlisted"
)

// List checks everything in d against the lock: by name, the version in use
// first, what is unlisted last. embedded is what the binary carries.
func (d Dir) List(embedded [][]byte) ([]Item, error) {
	lock, _, err := d.load(embedded)
	if err != nil {
		return nil, err
	}
	plan, err := d.Locked(nil)
	if err != nil {
		return nil, err
	}
	items := []Item{}
	for _, name := range lock.names() {
		e := lock.Plugins[name]
		for _, version := range e.versions() {
			items = append(items, d.item(name, version, e))
		}
	}
	for _, u := range plan.Refused {
		i := Item{Name: u.Name, Version: u.Version, File: u.From, State: StateUnlisted, Reason: u.Err.Error(), Grants: Grants{HTTP: []string{}, Secrets: []string{}}}
		if module, m, err := open(u.From); err == nil {
			i.Kind, i.Source, i.ABI, i.SHA256, i.Grants = m.Kind, m.Source, m.ABI, hash(module), newGrants(m)
		}
		items = append(items, i)
	}
	owners := d.answers(lock, embedded)
	for i := range items {
		items[i].Owner = owners[items[i].Source]
	}
	return items, nil
}

func (d Dir) item(name, version string, e *Entry) Item {
	pin := e.Pinned[version]
	i := Item{
		Name: name, Version: version, ABI: pin.ABI, SHA256: pin.SHA256, File: d.file(name, version), Grants: pin.Grants,
		Use: version == e.Use, Before: e.Before != nil && e.Before.Use == version, State: StatePinned,
	}
	if i.Use {
		i.Constraint = e.Constraint
	}
	module, err := d.read(name, version, pin)
	switch {
	case errors.Is(err, ErrMissing):
		i.State, i.Reason = StateMissing, err.Error()
	case err != nil:
		i.State, i.Reason = StateRefused, err.Error()
	default:
		if m, err := plugin.ReadManifest(module); err == nil {
			i.Kind, i.Source = m.Kind, m.Source
			if more := pin.Grants.beyond(newGrants(m)); !more.IsZero() {
				i.State = StateEdited
				i.Reason = fmt.Sprintf("the lock accepts %s, which %s does not ask for: the lock was edited, and a later version would get it without a question: take it out there, or restore the lock from version control", more, i.File)
			}
		}
	}
	return i
}
