package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
)

// MaxUses bounds the guards of a workspace, and those of a deployment.
const MaxUses = 16

// ParseUses reads a JSON array of guards; the error goes on from its name. Whether
// they fit their plugins is for [Use.Check].
func ParseUses(b []byte) ([]Use, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(b, &items); err != nil || items == nil {
		return nil, fmt.Errorf("must be an array of objects such as {\"plugin\": \"mask\"}")
	}
	if len(items) > MaxUses {
		return nil, fmt.Errorf("has %d entries and may have %d", len(items), MaxUses)
	}
	uses := []Use{}
	for i, item := range items {
		d := json.NewDecoder(bytes.NewReader(item))
		d.DisallowUnknownFields()
		var u Use
		if err := d.Decode(&u); err != nil || len(item) == 0 || item[0] != '{' {
			return nil, fmt.Errorf("[%d] must be an object of plugin, stages, options and onFault: %s", i, strings.TrimPrefix(fmt.Sprint(err), "json: "))
		}
		if err := u.checkForm(); err != nil {
			return nil, fmt.Errorf("[%d]%w", i, err)
		}
		for name, v := range u.Options {
			if v = bytes.TrimSpace(v); string(v) == "null" {
				delete(u.Options, name)
			}
		}
		uses = append(uses, u)
	}
	return uses, nil
}

func (u *Use) checkForm() error {
	if !manifest.ValidName(u.Plugin) {
		return fmt.Errorf(".plugin is %q and must be the name of a guard", u.Plugin)
	}
	if u.Stages != nil && len(u.Stages) == 0 {
		return fmt.Errorf(".stages is empty: leave it out for all that the guard has")
	}
	for i, s := range u.Stages {
		if !slices.Contains(abi.Stages, s) || slices.Contains(u.Stages[:i], s) {
			return fmt.Errorf(".stages[%d] is %q and must be one of: %s; each once", i, s, strings.Join(abi.Stages, ", "))
		}
	}
	if u.OnFault != "" && u.OnFault != FaultClosed && u.OnFault != FaultOpen {
		return fmt.Errorf(".onFault is %q and must be %q or %q", u.OnFault, FaultClosed, FaultOpen)
	}
	return nil
}

// Check says why a guard of manifest m cannot be used so; the error goes on from the
// name of the entry.
func (u *Use) Check(m *abi.Manifest) error {
	for i, s := range u.Stages {
		if !slices.Contains(m.Stages, s) {
			return fmt.Errorf(".stages[%d] is %q, where guard %s %s does not stand: it has %s", i, s, m.Name, m.Version, strings.Join(m.Stages, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.Options)) {
		o, ok := m.Options[name]
		if !ok {
			return fmt.Errorf(".options.%.64s is not known: guard %s %s has %s", name, m.Name, m.Version, strings.Join(slices.Sorted(maps.Keys(m.Options)), ", "))
		}
		if err := manifest.CheckValue(&o, u.Options[name]); err != nil {
			return fmt.Errorf(".options.%s %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Options)) {
		if m.Options[name].Required && u.Options[name] == nil {
			return fmt.Errorf(".options.%s is missing, and guard %s %s needs it", name, m.Name, m.Version)
		}
	}
	return nil
}
