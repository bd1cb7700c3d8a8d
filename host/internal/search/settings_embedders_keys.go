package search

import (
	"bytes"
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
	kept, err = rewriteKeys(body, func(of string, key json.RawMessage) (json.RawMessage, error) {
		if isNull(key) {
			return key, nil
		}
		text := unquote(key)
		switch {
		case text == "":
			return json.RawMessage("null"), nil
		case s.shownKey(uid, of) == text:
			return nil, nil // a client sent back what it was shown
		case strings.HasSuffix(text, "XXX..."):
			return nil, apierr.Newf(apierr.InvalidSettingsEmbedders, "`embedders.%.150s.apiKey` is a key as it is shown, not the key itself: send the key, or leave `apiKey` out to keep what is set.", of)
		case s.opts.Sealer == nil:
			return nil, fmt.Errorf("keep a key of an embedder: no sealer")
		}
		return json.Marshal(keptKey{chat.Obfuscate(chat.NewSecret(text)), s.opts.Sealer.Seal([]byte(text), sealPlace)})
	})
	if err != nil {
		return nil, nil, err
	}
	shown, err = rewriteKeys(kept, func(_ string, key json.RawMessage) (json.RawMessage, error) {
		if isNull(key) {
			return key, nil
		}
		var k keptKey
		if err := json.Unmarshal(key, &k); err != nil {
			return nil, fmt.Errorf("read kept key: %w", err)
		}
		return json.Marshal(k.Shown)
	})
	return kept, shown, err
}

// rewriteKeys has f say for each apiKey in settings as JSON what is to stand
// there, nothing where it returns nil, and returns the settings so: where that
// changes nothing, byte by byte. of is the embedder's name, with that of its
// part behind a dot.
func rewriteKeys(settings []byte, f func(of string, key json.RawMessage) (json.RawMessage, error)) ([]byte, error) {
	var top, all map[string]json.RawMessage
	if err := json.Unmarshal(settings, &top); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if isNull(top["embedders"]) {
		return settings, nil
	}
	if err := json.Unmarshal(top["embedders"], &all); err != nil {
		return nil, fmt.Errorf("read embedders: %w", err)
	}
	changed := false
	watched := func(of string, key json.RawMessage) (json.RawMessage, error) {
		now, err := f(of, key)
		changed = changed || !bytes.Equal(now, key)
		return now, err
	}
	var err error
	for _, name := range sortedKeys(all) {
		if all[name], err = rewriteKey(name, all[name], watched); err != nil {
			return nil, err
		}
	}
	if !changed {
		return settings, nil
	}
	if top["embedders"], err = json.Marshal(all); err != nil {
		return nil, fmt.Errorf("encode embedders: %w", err)
	}
	return json.Marshal(top)
}

// rewriteKey is rewriteKeys for one embedder and what is within it.
func rewriteKey(of string, embedder json.RawMessage, f func(of string, key json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	if isNull(embedder) {
		return embedder, nil
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(embedder, &fields)
	if err != nil {
		return nil, fmt.Errorf("read embedder %.100s: %w", of, err)
	}
	if key, ok := fields["apiKey"]; ok {
		if fields["apiKey"], err = f(of, key); err != nil {
			return nil, err
		}
		if fields["apiKey"] == nil {
			delete(fields, "apiKey")
		}
	}
	for _, part := range []string{searchingPart, indexingPart} {
		if inner, ok := fields[part]; ok {
			if fields[part], err = rewriteKey(of+"."+part, inner, f); err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(fields)
}

// shownKey is the key of an embedder, or of a part of one, as its index shows
// it.
func (s *Service) shownKey(uid, of string) string {
	ix := s.find(uid)
	if ix == nil {
		return ""
	}
	name, part, _ := strings.Cut(of, ".")
	e := ix.meta().Settings.Embedders[name]
	at := &e
	switch part {
	case searchingPart:
		at = e.Searching
	case indexingPart:
		at = e.Indexing
	}
	if at == nil {
		return ""
	}
	return at.Key.Shown
}

// withoutKeys returns e without its keys, and which it had, called as in
// rewriteKeys.
func (e Embedder) withoutKeys(name string) (keyless Embedder, had []string) {
	take := func(of string, e *Embedder) *Embedder {
		if e == nil || e.Key.IsZero() {
			return e
		}
		had = append(had, of)
		own := *e
		own.Key = SealedKey{}
		return &own
	}
	keyless = *take(name, &e)
	keyless.Searching = take(name+"."+searchingPart, e.Searching)
	keyless.Indexing = take(name+"."+indexingPart, e.Indexing)
	return keyless, had
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

func (k SealedKey) wire(kept bool) any {
	switch {
	case k.IsZero():
		return nil
	case kept:
		return keptKey{k.Shown, k.sealed}
	}
	return k.Shown
}
