package settings

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/parley-search/parley/host/internal/base/secret"
)

// A Header is the value of a header that an embedder sends. It may hold a
// secret, and counts as one unless it can hold none.
type Header struct {
	text   string // where it holds no secret; or in a record of before they were sealed
	sealed SealedText
}

var keyHeader = regexp.MustCompile(`(?i:^((bearer|basic|token|key|api-?key) )?)\$\{apiKey\}$`)

// harmlessHeader reports whether a value holds no secret: it is empty, or the
// place of the key, with or without a scheme before it.
func harmlessHeader(text string) bool { return text == "" || keyHeader.MatchString(text) }

func (h Header) secret() bool { return !h.sealed.IsZero() || !harmlessHeader(h.text) }

// shown is what clients see of h.
func (h Header) shown() string {
	switch {
	case !h.sealed.IsZero():
		return h.sealed.Shown
	case h.secret():
		return secret.Obfuscate(secret.New(h.text))
	}
	return h.text
}

// Open returns the value as it is sent.
func (h Header) Open(sealer Sealer) (secret.Text, error) {
	if h.sealed.IsZero() {
		return secret.New(h.text), nil
	}
	return h.sealed.Open(sealer)
}

func readHeaders(v value, dst *map[string]Header) error {
	headers := map[string]Header{}
	err := v.members(func(name string, v value) error {
		if len(headers) == maxHeaders {
			return fmt.Errorf("`%s` is one header too many: at most %d are taken", v.path, maxHeaders)
		}
		if !headerName(name) {
			return fmt.Errorf("`%s` is not the name of a header that can be set", v.path)
		}
		var h Header
		err := h.read(v)
		headers[name] = h
		return err
	})
	if err == nil {
		*dst = headers
	}
	return err
}

// read reads the value of a header, as [SealedText.read] does.
func (h *Header) read(v value) error {
	if v.kept && v.raw[0] == '{' {
		return h.sealed.read(v)
	}
	var text string
	if v.raw[0] == '"' {
		if err := v.text(&text, maxHeaderText); err != nil {
			return err
		}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("`%s` must be a text of one line", v.path)
	}
	if v.raw[0] == '"' && (v.kept || harmlessHeader(text)) {
		h.text = text
		return nil
	}
	return h.sealed.read(v)
}

// settleHeaders returns headers as a task kept them, with those that stay taken
// from before. same: they go to the same place.
func settleHeaders(headers, before map[string]Header, same bool) map[string]Header {
	for name, h := range headers {
		if h.sealed.IsZero() || h.sealed.sealed != nil {
			continue
		}
		if b, ok := before[name]; ok && same {
			headers[name] = b
		} else {
			delete(headers, name)
		}
	}
	return headers
}

// withoutSecretHeaders returns headers but for those that may hold a secret,
// nil where none is left.
func withoutSecretHeaders(headers map[string]Header) map[string]Header {
	open := maps.Clone(headers)
	maps.DeleteFunc(open, func(_ string, h Header) bool { return h.secret() })
	if len(open) == 0 && len(headers) > 0 {
		return nil
	}
	return open
}

// wireHeaders is what clients see of headers; kept: what our records hold.
func wireHeaders(headers map[string]Header, kept bool) any {
	if headers == nil {
		return nil
	}
	out := make(map[string]any, len(headers))
	for name, h := range headers {
		switch {
		case !h.sealed.IsZero():
			out[name] = h.sealed.wire(kept)
		case kept:
			out[name] = h.text
		default:
			out[name] = h.shown()
		}
	}
	return out
}

// SealHeaders seals the headers that stand in s in the clear, as those in records
// of before headers were sealed do, and reports whether there were any. s must
// be just read.
func (s *Settings) SealHeaders(sealer Sealer) (changed bool) {
	for _, e := range s.Embedders {
		for _, at := range []*Embedder{&e, e.Searching, e.Indexing} {
			if at == nil {
				continue
			}
			for name, h := range at.Headers {
				if h.sealed.IsZero() && h.secret() {
					at.Headers[name] = Header{sealed: SealedText{h.shown(), sealer.Seal([]byte(h.text), sealPlace)}}
					changed = true
				}
			}
		}
	}
	return changed
}
