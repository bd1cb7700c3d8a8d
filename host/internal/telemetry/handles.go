package telemetry

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/parley-search/parley/abi/event"
)

// Bounds of the handles: of the texts of one vocabulary, and of the texts of
// clients that are remembered to save parsing them again. Past them a text is
// "other", and parsed anew.
const (
	maxTexts  = 1024
	maxFew    = 64 // of those with few texts
	maxParsed = 512
	otherText = "other"
)

// Handles gives numbers to the texts that may be counted. A text gets in
// through the parsers of this file's neighbours alone, so there is none here
// that a client could choose freely. Safe for concurrent use; with a nil
// Handles every handle is 0.
type Handles struct {
	mu     sync.RWMutex
	next   event.Handle
	texts  map[event.Handle]vocabularyText
	known  map[vocabularyText]event.Handle
	counts map[string]int
	parsed map[vocabularyText]event.Handle // what clients wrote
}

type vocabularyText struct{ vocabulary, text string }

// NewHandles returns an empty table.
func NewHandles() *Handles {
	h := &Handles{next: 1}
	h.clear()
	return h
}

func (h *Handles) clear() {
	h.texts, h.known = map[event.Handle]vocabularyText{}, map[vocabularyText]event.Handle{}
	h.counts, h.parsed = map[string]int{}, map[vocabularyText]event.Handle{}
}

// The handles of what a request says. Where nothing may be said of it, the text
// is "other", or what the vocabulary has for that.

// UserAgent is for the header User-Agent, or the one of an SDK.
func (h *Handles) UserAgent(header string) event.Handle {
	return h.of(event.VocabularyUserAgent, header, userAgent)
}

// MediaType is for the header Content-Type.
func (h *Handles) MediaType(header string) event.Handle {
	return h.of(event.VocabularyMediaType, header, mediaType)
}

// Attribute is for the name of a primary key; 0 where there is none.
func (h *Handles) Attribute(name string) event.Handle {
	if name == "" {
		return 0
	}
	return h.of(event.VocabularyAttribute, name, attribute)
}

// Source is for the source of a provider plugin; 0 where there is none.
func (h *Handles) Source(name string) event.Handle {
	if name == "" {
		return 0
	}
	return h.of(event.VocabularySource, name, source)
}

// Guard is for the name of a guard.
func (h *Handles) Guard(name string) event.Handle { return h.of(event.VocabularyGuard, name, source) }

// Note is for a label of a guard's manifest; 0 where there is none.
func (h *Handles) Note(label string) event.Handle {
	if label == "" {
		return 0
	}
	return h.of(event.VocabularyNote, label, note)
}

// Version is for the version of the service.
func (h *Handles) Version(v string) event.Handle { return h.of(event.VocabularyVersion, v, version) }

// Kernel is for the release of the system's kernel; 0 where it has no form of
// one.
func (h *Handles) Kernel(release string) event.Handle {
	if kernel(release) == "" {
		return 0
	}
	return h.of(event.VocabularyKernel, release, kernel)
}

// Distribution is for the id of the operating system.
func (h *Handles) Distribution(id string) event.Handle {
	return h.of(event.VocabularyDistribution, id, distribution)
}

// ServerProvider is for the name of a hosting company.
func (h *Handles) ServerProvider(name string) event.Handle {
	return h.of(event.VocabularyServerProvider, name, serverProvider)
}

// of returns the handle of what parse makes of raw.
func (h *Handles) of(vocabulary, raw string, parse func(string) string) event.Handle {
	if h == nil {
		return 0
	}
	h.mu.RLock()
	handle, ok := h.parsed[vocabularyText{vocabulary, raw}]
	h.mu.RUnlock()
	if ok {
		return handle
	}
	raw = strings.Clone(raw) // a request's buffer is used again, and text may be a part of it
	text := vocabularyText{vocabulary, parse(raw)}
	h.mu.Lock()
	defer h.mu.Unlock()
	handle = h.add(text)
	if len(h.parsed) < maxParsed && len(raw) <= 512 {
		h.parsed[vocabularyText{vocabulary, raw}] = handle
	}
	return handle
}

// add returns the handle of text, which it gets if there is room.
func (h *Handles) add(text vocabularyText) event.Handle {
	if handle, ok := h.known[text]; ok {
		return handle
	}
	if h.counts[text.vocabulary] >= room(text.vocabulary) {
		text.text = otherText
		if handle, ok := h.known[text]; ok {
			return handle
		}
	}
	handle := h.next
	h.next++
	h.texts[handle], h.known[text] = text, handle
	h.counts[text.vocabulary]++
	return handle
}

// room is how many texts of a vocabulary there may be.
func room(vocabulary string) int {
	if slices.Contains(event.FewTexts(), vocabulary) {
		return maxFew
	}
	return maxTexts
}

// text implements [metric.Texts].
func (h *Handles) text(vocabulary string, handle uint64) (string, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	t, ok := h.texts[event.Handle(handle)]
	return t.text, ok && t.vocabulary == vocabulary
}

// turn is called between two windows. A table that is filling up is emptied;
// its numbers are not given again, so that an event which is under way means
// nothing rather than something else.
func (h *Handles) turn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.texts) > maxTexts/2 || len(h.parsed) == maxParsed {
		h.clear()
	}
}

// A savedText is one entry of the table, in a state.
type savedText struct {
	Handle     event.Handle `json:"handle"`
	Vocabulary string       `json:"vocabulary"`
	Text       string       `json:"text"`
}

// save returns the table by number.
func (h *Handles) save() []savedText {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var all []savedText
	for _, handle := range slices.Sorted(maps.Keys(h.texts)) {
		t := h.texts[handle]
		all = append(all, savedText{handle, t.vocabulary, t.text})
	}
	return all
}

// load fills an empty table with what save returned. Texts that no parser
// would have let in are left out.
func (h *Handles) load(all []savedText) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range all {
		parse, ok := parsers[s.Vocabulary]
		t := vocabularyText{s.Vocabulary, s.Text}
		if _, taken := h.texts[s.Handle]; !ok || taken || s.Handle == 0 || s.Handle > 1<<40 || parse(s.Text) != s.Text || h.counts[s.Vocabulary] >= room(s.Vocabulary) {
			continue
		}
		h.texts[s.Handle], h.known[t] = t, s.Handle
		h.counts[s.Vocabulary]++
		h.next = max(h.next, s.Handle+1)
	}
}
