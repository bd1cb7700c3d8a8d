package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/base/secret"
)

// A Sealer encrypts what must not lie in the clear. See package store.
type Sealer interface {
	// Seal encrypts text; only with the same place does it open again.
	Seal(text []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// sealPlace is where the secrets of embedders belong. It is kept: never change
// it.
const sealPlace = "apiKey of an embedder"

// A SealedText is a key, or the value of a header, as settings, tasks and their
// records hold it: nobody can read it there. See [SealedText.Open].
type SealedText struct {
	Shown  string // enough of it to know it again, as clients see it
	sealed []byte
}

// IsZero reports whether there is no text.
func (t SealedText) IsZero() bool { return len(t.sealed) == 0 && t.Shown == "" }

// A keptSecret is a SealedText in our own records. One without Sealed, in what
// a task waits with, leaves what is set.
type keptSecret struct {
	Shown  string `json:"shown"`
	Sealed []byte `json:"sealed,omitempty"`
}

// read reads a secret: out of our records sealed, from a client clear. Of a
// client's only the shown form stays; see [SealSecrets].
func (t *SealedText) read(v value) error {
	if v.kept {
		var kept keptSecret
		if err := json.Unmarshal(v.raw, &kept); err != nil {
			return fmt.Errorf("read kept secret of %s: %w", v.path, err)
		}
		*t = SealedText{kept.Shown, kept.Sealed}
		return nil
	}
	if v.raw[0] != '"' {
		// Not by wrong, which would repeat it.
		return fmt.Errorf("`%s` must be a string, but is %s", v.path, rawjson.KindOf(v.raw))
	}
	var text string
	if err := v.text(&text, maxHeaderText); err != nil {
		return err
	}
	*t = SealedText{Shown: secret.Obfuscate(secret.New(text))}
	return nil
}

// A secretName names a secret in the settings of an index.
type secretName struct {
	embedder string // with the name of its part behind a dot
	header   string // "": the apiKey, or
	option   string // of a plugin, and
	source   string // as it was sent; "": it was not
}

// path is where the secret stands among embedders.
func (n secretName) path() string {
	switch {
	case n.header != "":
		return n.embedder + ".headers." + n.header
	case n.option != "":
		return n.embedder + ".options." + n.option
	}
	return n.embedder + ".apiKey"
}

func (n secretName) String() string {
	switch {
	case n.header != "":
		return fmt.Sprintf("header %s of embedder %s", n.header, n.embedder)
	case n.option != "":
		return fmt.Sprintf("option %s of embedder %s", n.option, n.embedder)
	}
	return "apiKey of embedder " + n.embedder
}

// SealSecrets returns what a client sent for settings as a task keeps it, each
// secret of an embedder sealed, and as the task's details show it. Patch has
// accepted body; before are the settings that it is for. secret says which options
// of a source are not to be read.
func SealSecrets(body []byte, sealer Sealer, before *Settings, secretOption func(source EmbedderSource, option string) bool) (kept, shown []byte, err error) {
	kept, err = rewriteSecrets(body, func(n secretName, raw json.RawMessage) (json.RawMessage, error) {
		if rawjson.IsAbsent(raw) {
			return raw, nil
		}
		if n.option != "" && (raw[0] != '"' || !secretOption(before.sourceOf(n), n.option)) {
			return raw, nil
		}
		text := rawjson.Unquote(raw)
		switch {
		case n.header != "" && harmlessHeader(text):
			return raw, nil
		case text == "":
			return json.RawMessage("null"), nil
		case before.shownSecret(n) == text: // a client sent back what it was shown
			if n.header == "" {
				return nil, nil
			}
			return json.Marshal(keptSecret{Shown: text}) // all headers are set at once: this one is to stay
		case strings.HasSuffix(text, secret.ShortestShown):
			what, field := "key", "apiKey"
			switch {
			case n.header != "":
				what, field = "value", "headers"
			case n.option != "":
				what, field = "secret", "options"
			}
			return nil, apierr.Newf(indexerr.InvalidSettingsEmbedders, "`embedders.%.300s` is a %s as it is shown, not the %[2]s itself: send the %[2]s, or leave `%[3]s` out to keep what is set.", n.path(), what, field)
		}
		return sealSecret(text, sealer)
	})
	if err != nil {
		return nil, nil, err
	}
	shown, err = rewriteSecrets(kept, func(_ secretName, raw json.RawMessage) (json.RawMessage, error) {
		if rawjson.IsAbsent(raw) || raw[0] != '{' {
			return raw, nil
		}
		var k keptSecret
		if err := json.Unmarshal(raw, &k); err != nil {
			return nil, fmt.Errorf("read kept secret: %w", err)
		}
		return json.Marshal(k.Shown)
	})
	return kept, shown, err
}

func sealSecret(text string, sealer Sealer) (json.RawMessage, error) {
	if sealer == nil {
		return nil, fmt.Errorf("keep a secret of an embedder: no sealer")
	}
	return json.Marshal(keptSecret{secret.Obfuscate(secret.New(text)), sealer.Seal([]byte(text), sealPlace)})
}

// rewriteSecrets has f say for each apiKey and each header in settings as JSON
// what is to stand there, nothing where it returns nil, and returns the settings
// so: where that changes nothing, byte by byte.
func rewriteSecrets(settings []byte, f secretRewriter) ([]byte, error) {
	var top, all map[string]json.RawMessage
	if err := json.Unmarshal(settings, &top); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if rawjson.IsAbsent(top["embedders"]) {
		return settings, nil
	}
	if err := json.Unmarshal(top["embedders"], &all); err != nil {
		return nil, fmt.Errorf("read embedders: %w", err)
	}
	changed := false
	watched := func(n secretName, raw json.RawMessage) (json.RawMessage, error) {
		now, err := f(n, raw)
		changed = changed || !bytes.Equal(now, raw)
		return now, err
	}
	var err error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name], err = rewriteSecretsOf(name, all[name], watched); err != nil {
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

// A secretRewriter says what is to stand in place of a secret; nil: nothing.
type secretRewriter func(n secretName, raw json.RawMessage) (json.RawMessage, error)

// rewriteSecretsOf is rewriteSecrets for one embedder and what is within it.
func rewriteSecretsOf(name string, embedder json.RawMessage, f secretRewriter) (json.RawMessage, error) {
	if rawjson.IsAbsent(embedder) {
		return embedder, nil
	}
	var fields, headers, options map[string]json.RawMessage
	err := json.Unmarshal(embedder, &fields)
	if err != nil {
		return nil, fmt.Errorf("read embedder %.100s: %w", name, err)
	}
	if err := rewriteMember(fields, "apiKey", secretName{embedder: name}, f); err != nil {
		return nil, err
	}
	if !rawjson.IsAbsent(fields["headers"]) {
		if err := json.Unmarshal(fields["headers"], &headers); err != nil {
			return nil, fmt.Errorf("read headers of embedder %.100s: %w", name, err)
		}
		for _, header := range slices.Sorted(maps.Keys(headers)) {
			if err := rewriteMember(headers, header, secretName{embedder: name, header: header}, f); err != nil {
				return nil, err
			}
		}
		if fields["headers"], err = json.Marshal(headers); err != nil {
			return nil, fmt.Errorf("encode headers of embedder %.100s: %w", name, err)
		}
	}
	if !rawjson.IsAbsent(fields["options"]) {
		if err := json.Unmarshal(fields["options"], &options); err != nil {
			return nil, fmt.Errorf("read options of embedder %.100s: %w", name, err)
		}
		var source string
		_ = json.Unmarshal(fields["source"], &source) // absent: see [Settings.sourceOf]
		for _, option := range slices.Sorted(maps.Keys(options)) {
			if err := rewriteMember(options, option, secretName{embedder: name, option: option, source: source}, f); err != nil {
				return nil, err
			}
		}
		if fields["options"], err = json.Marshal(options); err != nil {
			return nil, fmt.Errorf("encode options of embedder %.100s: %w", name, err)
		}
	}
	for _, part := range []string{searchingPart, indexingPart} {
		if inner, ok := fields[part]; ok {
			if fields[part], err = rewriteSecretsOf(name+"."+part, inner, f); err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(fields)
}

// rewriteMember has f say what is to stand under key, where something does.
func rewriteMember(object map[string]json.RawMessage, key string, n secretName, f secretRewriter) error {
	raw, ok := object[key]
	if !ok {
		return nil
	}
	now, err := f(n, raw)
	if object[key] = now; now == nil {
		delete(object, key)
	}
	return err
}

// sourceOf is the source of the embedder that n is of, once n's patch is applied.
func (s *Settings) sourceOf(n secretName) EmbedderSource {
	if at := s.embedderOf(n); n.source == "" && at != nil {
		return at.Source
	}
	return EmbedderSource(n.source)
}

// embedderOf is the embedder, or part of one, that n is of; nil: there is none.
func (s *Settings) embedderOf(n secretName) *Embedder {
	name, part, _ := strings.Cut(n.embedder, ".")
	e := s.Embedders[name]
	at := &e
	switch part {
	case searchingPart:
		at = e.Searching
	case indexingPart:
		at = e.Indexing
	}
	return at
}

// shownSecret is a secret as it is shown, "" where there is none.
func (s *Settings) shownSecret(n secretName) string {
	at := s.embedderOf(n)
	switch {
	case at == nil:
		return ""
	case n.option != "":
		return at.Options[n.option].Sealed.Shown
	case n.header != "":
		return at.Headers[n.header].shown()
	}
	return at.Key.Shown
}

// withoutSecrets returns e without its secrets, and which it had: an apiKey by
// its embedder, a header by its path.
func (e Embedder) withoutSecrets(name string) (open Embedder, had []string) {
	take := func(of string, e *Embedder) *Embedder {
		if e == nil {
			return e
		}
		own := *e
		if !e.Key.IsZero() {
			had = append(had, of)
			own.Key = SealedText{}
		}
		own.Headers = withoutSecretHeaders(e.Headers)
		for _, header := range slices.Sorted(maps.Keys(e.Headers)) {
			if e.Headers[header].secret() {
				had = append(had, secretName{embedder: of, header: header}.path())
			}
		}
		own.Options = withoutSecretOptions(e.Options)
		for _, option := range slices.Sorted(maps.Keys(e.Options)) {
			if e.Options[option].Secret() {
				had = append(had, secretName{embedder: of, option: option}.path())
			}
		}
		return &own
	}
	open = *take(name, &e)
	open.Searching = take(name+"."+searchingPart, e.Searching)
	open.Indexing = take(name+"."+indexingPart, e.Indexing)
	return open, had
}

// Open opens the text, none where there is none.
func (t SealedText) Open(sealer Sealer) (secret.Text, error) {
	if t.IsZero() {
		return secret.Text{}, nil
	}
	if sealer == nil {
		return secret.Text{}, fmt.Errorf("open a secret of an embedder: no sealer")
	}
	text, err := sealer.Open(t.sealed, sealPlace)
	if err != nil {
		return secret.Text{}, fmt.Errorf("open a secret of an embedder: %w", err)
	}
	return secret.New(string(text)), nil
}

func (t SealedText) wire(kept bool) any {
	switch {
	case t.IsZero():
		return nil
	case kept:
		return keptSecret{t.Shown, t.sealed}
	}
	return t.Shown
}
