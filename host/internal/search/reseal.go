package search

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Reseal gives a sealed value under another key, or nil where it is to be
// dropped. what names it for a person.
type Reseal func(sealed []byte, place, what string) []byte

// ResealMeta returns the record of an index with its secrets sealed anew, nil
// where it has none. Nothing else of it changes.
func ResealMeta(uid string, record []byte, anew Reseal) ([]byte, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(record, &m); err != nil {
		return nil, fmt.Errorf("read record of index %q: %w", uid, err)
	}
	settings, err := resealSettings(m["Settings"], "index "+uid, anew)
	if err != nil || settings == nil {
		return nil, err
	}
	m["Settings"] = settings
	return json.Marshal(m)
}

// ResealPayload does so for what a task that updates settings waits with.
func ResealPayload(uid string, payload []byte, anew Reseal) ([]byte, error) {
	head, body, _ := bytes.Cut(payload, []byte("\n"))
	body, err := resealSettings(body, "waiting settings of index "+uid, anew)
	if err != nil || body == nil {
		return nil, err
	}
	return append(append(bytes.Clone(head), '\n'), body...), nil
}

// resealSettings does so for settings as they are kept.
func resealSettings(settings []byte, of string, anew Reseal) ([]byte, error) {
	var top map[string]json.RawMessage
	if len(settings) == 0 || json.Unmarshal(settings, &top) != nil || isNull(top["embedders"]) {
		return nil, nil // null resets all settings
	}
	var all map[string]map[string]json.RawMessage
	if err := json.Unmarshal(top["embedders"], &all); err != nil {
		return nil, fmt.Errorf("read embedders of %s: %w", of, err)
	}
	changed := false
	for _, name := range sortedKeys(all) {
		var k keptKey
		if raw := all[name]["apiKey"]; isNull(raw) || json.Unmarshal(raw, &k) != nil || len(k.Sealed) == 0 {
			continue
		}
		changed = true
		k.Sealed = anew(k.Sealed, sealPlace, fmt.Sprintf("apiKey of embedder %s of %s", name, of))
		var err error
		if all[name]["apiKey"], err = json.Marshal(k); err != nil {
			return nil, fmt.Errorf("encode key: %w", err)
		}
		if k.Sealed == nil {
			all[name]["apiKey"] = json.RawMessage("null")
		}
	}
	if !changed {
		return nil, nil
	}
	var err error
	if top["embedders"], err = json.Marshal(all); err != nil {
		return nil, fmt.Errorf("encode embedders of %s: %w", of, err)
	}
	return json.Marshal(top)
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
