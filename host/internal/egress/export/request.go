package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// Bounds of a request's body, in bytes but for the last.
const (
	maxKey         = 4 << 10
	leastPayload   = 1 << 10
	defaultPayload = 20 << 20
	mostPayload    = 256 << 20
	maxPatterns    = 1000
)

// An order is the body of POST /export.
type order struct {
	URL         string              `json:"url"`
	APIKey      *string             `json:"apiKey"`
	PayloadSize json.RawMessage     `json:"payloadSize"`
	Indexes     map[string]*pattern `json:"indexes"`
}

// A pattern says what is copied of the indexes that it covers.
type pattern struct {
	Filter           json.RawMessage `json:"filter,omitempty"`
	OverrideSettings bool            `json:"overrideSettings"`
}

// A work is an order as its task keeps it.
type work struct {
	URL       string
	SealedKey []byte              `json:",omitempty"`
	Payload   int                 // bytes of documents in one request, before they are packed
	Patterns  map[string]*pattern // by index uid, or its beginning and *
}

// sealPlace binds a key to where it is sent.
func sealPlace(url string) string { return "apiKey of an export to " + url }

// Task returns the task that does what the body of POST /export asks. Errors
// are [apierr.Error]s, and repeat neither URL nor key.
func (s *Service) Task(body []byte) (task.New, error) {
	var o order
	err := apierr.DecodeStrict(body, &o, apierr.Fields{
		"url": apierr.InvalidExportURL, "apiKey": apierr.InvalidExportAPIKey, "payloadSize": apierr.InvalidExportPayloadSize,
		"indexes": apierr.InvalidExportIndexesPatterns, "indexes.*.filter": apierr.InvalidExportIndexFilter, "indexes.*.overrideSettings": apierr.InvalidExportOverrideSettings,
	})
	if err != nil {
		return task.New{}, err
	}
	w := work{Patterns: o.Indexes}
	if w.URL, err = readURL(o.URL); err != nil {
		return task.New{}, err
	}
	if w.Payload, err = readSize(o.PayloadSize); err != nil {
		return task.New{}, err
	}
	if err := w.checkPatterns(); err != nil {
		return task.New{}, err
	}
	shown := map[string]any{"url": w.URL, "apiKey": nil, "payloadSize": humanize.IBytes(uint64(w.Payload)), "indexes": w.shown(nil)}
	if o.APIKey != nil && *o.APIKey != "" {
		if len(*o.APIKey) > maxKey || strings.ContainsFunc(*o.APIKey, func(r rune) bool { return r < ' ' || r > '~' }) {
			return task.New{}, apierr.Newf(apierr.InvalidExportAPIKey, "`apiKey` must be at most %d printable characters of ASCII: it is sent in a header.", maxKey)
		}
		shown["apiKey"] = secret.Obfuscate(secret.New(*o.APIKey))
		w.SealedKey = s.opts.Sealer.Seal([]byte(*o.APIKey), sealPlace(w.URL))
	}
	payload, err := json.Marshal(w)
	if err != nil {
		return task.New{}, fmt.Errorf("encode export: %w", err)
	}
	details, err := encode(shown)
	if err != nil {
		return task.New{}, err
	}
	return task.New{Type: task.Export, Details: details, Payload: payload}, nil
}

func readURL(s string) (string, error) {
	if _, err := outbound.ParseURL(s, outbound.URLRules{}); err != nil {
		return "", apierr.Newf(apierr.InvalidExportURL, "`url` %v: it must be that of the other instance's API, such as \"https://search.example.com\": of http or https, without user, password, query and fragment.", err)
	}
	return strings.TrimRight(s, "/"), nil
}

// readSize reads a number of bytes or a text such as "50 MiB".
func readSize(raw json.RawMessage) (int, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return defaultPayload, nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw) // of a number
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n < leastPayload || n > mostPayload {
		return 0, apierr.Newf(apierr.InvalidExportPayloadSize, "`payloadSize` is %.40q: it must be a number of bytes or a text such as \"50 MiB\", from %s to %s.",
			text, humanize.IBytes(leastPayload), humanize.IBytes(mostPayload))
	}
	return int(n), nil
}

func (w *work) checkPatterns() error {
	if w.Patterns == nil {
		w.Patterns = map[string]*pattern{"*": {}}
	}
	if len(w.Patterns) > maxPatterns {
		return apierr.Newf(apierr.InvalidExportIndexesPatterns, "`indexes` has %d patterns; it may have at most %d.", len(w.Patterns), maxPatterns)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Patterns)) {
		if !auth.ValidPattern(name) {
			return apierr.Newf(apierr.InvalidExportIndexesPatterns, "`indexes` has the key %.64q, which is not an index pattern: give an index uid, the beginning of one and `*`, or `*`.", name)
		}
		p := w.Patterns[name]
		if p == nil {
			p = &pattern{}
			w.Patterns[name] = p
		}
		if bytes.Equal(p.Filter, []byte("null")) {
			p.Filter = nil
		}
		if p.Filter == nil {
			continue
		}
		if err := search.CheckExportFilter(p.Filter); err != nil {
			e := apierr.From(err)
			return apierr.Newf(e.Code, "`indexes.%s.filter`: %s", name, e.Message)
		}
	}
	return nil
}

// pattern returns the pattern that holds for an index: the longest that covers
// it, so that a uid goes before what it begins with.
func (w *work) pattern(uid string) (name string, ok bool) {
	for p := range w.Patterns {
		if auth.Match(p, uid) && (!ok || len(p) > len(name)) {
			name, ok = p, true
		}
	}
	return name, ok
}

// shown are the patterns as the task's details show them, each with how many
// documents the other side was given of it; nil: none yet.
func (w *work) shown(matched map[string]int) any {
	type shown struct {
		Filter           json.RawMessage `json:"filter"`
		OverrideSettings bool            `json:"overrideSettings"`
		Matched          *int            `json:"matchedDocuments"`
	}
	all := map[string]shown{}
	for name, p := range w.Patterns {
		one := shown{p.Filter, p.OverrideSettings, nil}
		if one.Filter == nil {
			one.Filter = json.RawMessage("null")
		}
		if matched != nil {
			one.Matched = new(matched[name])
		}
		all[name] = one
	}
	return all
}

// encode is JSON as a task shows it.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode export: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// ResealPayload returns what an export waits with, its key sealed anew; nil
// where it has none. An export whose key is dropped fails when its turn comes.
func ResealPayload(payload []byte, anew settings.Reseal) ([]byte, error) {
	var w work
	if err := json.Unmarshal(payload, &w); err != nil {
		return nil, fmt.Errorf("decode export: %w", err)
	}
	if len(w.SealedKey) == 0 {
		return nil, nil
	}
	if key := anew(w.SealedKey, sealPlace(w.URL), "apiKey of the waiting export to "+w.URL); key != nil {
		w.SealedKey = key
		return json.Marshal(w)
	}
	return nil, nil
}
