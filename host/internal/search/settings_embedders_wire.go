package search

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/chat"
)

// A Sealer encrypts what must not lie in the clear. See package store.
type Sealer interface {
	// Seal encrypts text; only with the same place does it open again.
	Seal(text []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// sealPlace is where the keys of embedders belong.
const sealPlace = "apiKey of an embedder"

// A SealedKey is a key as settings, tasks and their records hold it: nobody
// can read it there. See [Service.EmbedderKey].
type SealedKey struct {
	Shown  string // enough of it to know it again, as clients see it
	sealed []byte
}

// IsZero reports whether there is no key.
func (k SealedKey) IsZero() bool { return len(k.sealed) == 0 && k.Shown == "" }

// A keptKey is a SealedKey in our own records.
type keptKey struct {
	Shown  string `json:"shown"`
	Sealed []byte `json:"sealed"`
}

// read reads a key: out of our records sealed, from a client clear. Of a
// client's only the shown form stays; see [Service.seal].
func (k *SealedKey) read(v value) error {
	if v.kept {
		var kept keptKey
		if err := json.Unmarshal(v.raw, &kept); err != nil {
			return fmt.Errorf("read kept key of %s: %w", v.path, err)
		}
		*k = SealedKey{kept.Shown, kept.Sealed}
		return nil
	}
	if v.raw[0] != '"' {
		// Not by wrong, which would repeat it.
		return fmt.Errorf("`%s` must be a string, but is %s", v.path, jsonType(v.raw))
	}
	var text string
	if err := v.text(&text, maxHeaderText); err != nil {
		return err
	}
	*k = SealedKey{Shown: chat.Obfuscate(chat.NewSecret(text))}
	return nil
}

// seal returns what a client sent for settings as a task keeps it, each key of
// an embedder sealed, and as the task's details show it. patch has accepted
// body.
func (s *Service) seal(uid string, body []byte) (kept, shown []byte, err error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil {
		return nil, nil, fmt.Errorf("read settings: %w", err)
	}
	var all map[string]map[string]json.RawMessage
	if raw, ok := top["embedders"]; ok {
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, nil, fmt.Errorf("read embedders: %w", err)
		}
	}
	var keys []string
	for _, name := range sortedKeys(all) {
		if raw, ok := all[name]["apiKey"]; ok && raw[0] == '"' {
			keys = append(keys, name)
		}
	}
	if len(keys) == 0 {
		return body, body, nil
	}
	if s.opts.Sealer == nil {
		return nil, nil, fmt.Errorf("keep a key of an embedder: no sealer")
	}
	write := func() ([]byte, error) {
		var err error
		if top["embedders"], err = json.Marshal(all); err != nil {
			return nil, fmt.Errorf("encode embedders: %w", err)
		}
		return json.Marshal(top)
	}
	shownKeys := map[string]json.RawMessage{}
	for _, name := range keys {
		text := unquote(all[name]["apiKey"])
		key := keptKey{Shown: chat.Obfuscate(chat.NewSecret(text))}
		switch {
		case text == "":
			all[name]["apiKey"] = json.RawMessage("null")
			shownKeys[name] = all[name]["apiKey"]
			continue
		case s.shownKey(uid, name) == text:
			// A client sent back what it was shown.
			delete(all[name], "apiKey")
			continue
		case strings.HasSuffix(text, "XXX..."):
			return nil, nil, apierr.Newf(apierr.InvalidSettingsEmbedders, "`embedders.%.100s.apiKey` is a key as it is shown, not the key itself: send the key, or leave `apiKey` out to keep what is set.", name)
		}
		key.Sealed = s.opts.Sealer.Seal([]byte(text), sealPlace)
		if all[name]["apiKey"], err = json.Marshal(key); err != nil {
			return nil, nil, fmt.Errorf("encode key: %w", err)
		}
		if shownKeys[name], err = json.Marshal(key.Shown); err != nil {
			return nil, nil, fmt.Errorf("encode key: %w", err)
		}
	}
	if kept, err = write(); err != nil {
		return nil, nil, err
	}
	for name, text := range shownKeys {
		all[name]["apiKey"] = text
	}
	shown, err = write()
	return kept, shown, err
}

// shownKey is the key of an embedder as its index shows it.
func (s *Service) shownKey(uid, embedder string) string {
	if ix := s.find(uid); ix != nil {
		return ix.meta().Settings.Embedders[embedder].Key.Shown
	}
	return ""
}

// EmbedderKey opens the key of an embedder, none where it has none.
func (s *Service) EmbedderKey(k SealedKey) (chat.Secret, error) {
	if k.IsZero() {
		return chat.Secret{}, nil
	}
	if s.opts.Sealer == nil {
		return chat.Secret{}, fmt.Errorf("open the key of an embedder: no sealer")
	}
	text, err := s.opts.Sealer.Open(k.sealed, sealPlace)
	if err != nil {
		return chat.Secret{}, fmt.Errorf("open the key of an embedder: %w", err)
	}
	return chat.NewSecret(string(text)), nil
}

// wireEmbedders is what clients see of embedders, of each what its source has;
// kept: what our records hold.
func wireEmbedders(all map[string]Embedder, kept bool) any {
	out := make(map[string]any, len(all))
	for name, e := range all {
		m := map[string]any{
			"source":          e.Source,
			"dimensions":      positive(e.Dimensions),
			"binaryQuantized": e.BinaryQuantized,
			"distribution":    e.Distribution.wire(),
		}
		if e.Source == Rest || kept {
			m["url"] = orNull(e.URL)
			m["apiKey"] = e.Key.wire(kept)
			m["documentTemplate"] = orNull(e.DocumentTemplate)
			m["documentTemplateMaxBytes"] = e.MaxBytes
			m["request"], m["response"] = e.Request, e.Response
			m["headers"] = e.Headers
		}
		out[name] = m
	}
	return out
}

func (k SealedKey) wire(kept bool) any {
	switch {
	case k.IsZero():
		return nil
	case kept:
		return keptKey{k.Shown, k.sealed}
	}
	return k.Shown
}

func (d *Distribution) wire() any {
	if d == nil {
		return nil
	}
	return struct {
		Mean  float64 `json:"mean"`
		Sigma float64 `json:"sigma"`
	}{d.Mean, d.Sigma}
}

// positive is n, or nil where it is zero.
func positive(n int) any {
	if n == 0 {
		return nil
	}
	return n
}
