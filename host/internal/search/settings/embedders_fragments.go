package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/parley-search/parley/host/internal/search/template"
)

// What fragments may be.
const (
	maxFragments        = 32       // of a kind, of one embedder
	maxFragmentName     = 100      // bytes
	maxFragmentTemplate = 32 << 10 // bytes
)

// A wireFragment is a fragment as clients and our records have it.
type wireFragment struct {
	Value json.RawMessage `json:"value"`
}

func wireFragments(all map[string]json.RawMessage) map[string]wireFragment {
	out := make(map[string]wireFragment, len(all))
	for name, value := range all {
		out[name] = wireFragment{value}
	}
	return out
}

// readFragments reads an object of fragments over what dst has: null takes one
// out.
func readFragments(v value, dst *map[string]json.RawMessage) error {
	all := maps.Clone(*dst)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	err := v.members(func(name string, v value) error {
		if name == "" || len(name) > maxFragmentName {
			return fmt.Errorf("`%s` is not the name of a fragment: it must have 1 to %d bytes", v.path, maxFragmentName)
		}
		if v.null() {
			delete(all, name)
			return nil
		}
		var raw json.RawMessage
		never := func() {}
		err := v.fields(map[string]fieldReader{"value": {func(v value) error { raw = bytes.Clone(v.raw); return nil }, never}})
		switch {
		case err != nil:
			return err
		case raw == nil:
			return missing(v.path, "value", `send the JSON that is sent, such as {"type": "image_url", "image_url": "{{doc.image}}"}`)
		case len(raw) > maxFragmentTemplate:
			return fmt.Errorf("`%s.value` has %d bytes: it may have at most %d", v.path, len(raw), maxFragmentTemplate)
		}
		if _, err := template.ParseFragment(name, raw); err != nil {
			return fmt.Errorf("`%s.value`: %w", v.path, err)
		}
		if all[name] = raw; len(all) > maxFragments {
			return fmt.Errorf("`%s` is one fragment too many: at most %d are taken", v.path, maxFragments)
		}
		return nil
	})
	if err == nil {
		*dst = all
	}
	return err
}

// Fragmented reports whether e is asked about fragments instead of texts.
func (e *Embedder) Fragmented() bool { return len(e.IndexingFragments)+len(e.SearchFragments) > 0 }
