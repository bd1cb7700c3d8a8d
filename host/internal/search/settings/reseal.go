package settings

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/rawjson"
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
	if len(settings) == 0 || settings[0] != '{' {
		return nil, nil // null resets all settings
	}
	changed := false
	out, err := rewriteSecrets(settings, func(n secretName, raw json.RawMessage) (json.RawMessage, error) {
		var k keptSecret
		if rawjson.IsAbsent(raw) || json.Unmarshal(raw, &k) != nil || len(k.Sealed) == 0 {
			return raw, nil
		}
		changed = true
		if k.Sealed = anew(k.Sealed, sealPlace, fmt.Sprintf("%s of %s", n, of)); k.Sealed == nil && n.header == "" {
			return json.RawMessage("null"), nil
		} else if k.Sealed == nil {
			return nil, nil // the header goes with its value
		}
		return json.Marshal(k)
	})
	if err != nil || !changed {
		return nil, err
	}
	return out, nil
}
