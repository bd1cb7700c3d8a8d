package telemetry

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/parley-search/parley/abi/event"
)

func TestParsers(t *testing.T) {
	long := strings.Repeat("a", 70)
	tests := []struct{ vocabulary, in, want string }{
		{event.VocabularyUserAgent, "curl/8.5.0", "curl/8.5.0"},
		{event.VocabularyUserAgent, "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Mozilla/5.0"},
		{event.VocabularyUserAgent, "GO-HTTP-CLIENT/1.1", "Go-http-client/1.1"},
		{event.VocabularyUserAgent, "Meilisearch Python (v0.31.0)", "Meilisearch-python/0.31.0"},
		{event.VocabularyUserAgent, "Meilisearch JavaScript (v0.41.0)", "Meilisearch-js/0.41.0"},
		{event.VocabularyUserAgent, "Meilisearch Jane (v0.41.0)", "other"},
		{event.VocabularyUserAgent, "curl/192.168.1.20", "curl"},
		{event.VocabularyUserAgent, "curl/8.5.0-jane@example.com", "curl"},
		{event.VocabularyUserAgent, "JanesSecretClient/1.0", "other"},
		{event.VocabularyUserAgent, "node", "node"},
		{event.VocabularyUserAgent, "", "other"},
		{event.VocabularyUserAgent, strings.Repeat("x ", 500) + "curl/1.0", "other"},
		{event.VocabularyMediaType, "application/json", "application/json"},
		{event.VocabularyMediaType, "Application/X-NDJSON; charset=utf-8; boundary=jane", "application/x-ndjson"},
		{event.VocabularyMediaType, "", "missing"},
		{event.VocabularyMediaType, "json", "invalid"},
		{event.VocabularyMediaType, "jane/doe", "invalid"},
		{event.VocabularyMediaType, "application/jane@example.com", "invalid"},
		{event.VocabularyMediaType, "application/x-5551234567", "invalid"},
		{event.VocabularyMediaType, "application/" + long, "invalid"},
		{event.VocabularyAttribute, "movie_id", "movie_id"},
		{event.VocabularyAttribute, "jane@example.com", "other"},
		{event.VocabularyAttribute, "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "other"},
		{event.VocabularyAttribute, "user-5551234567", "other"},
		{event.VocabularyAttribute, "10.0.0.1", "other"},
		{event.VocabularyAttribute, long, "other"},
		{event.VocabularyVersion, "1.2.3", "1.2.3"},
		{event.VocabularyVersion, "v1.2.3-rc.1", "1.2.3-rc.1"},
		{event.VocabularyVersion, "devel", "0.0.0"},
		{event.VocabularyKernel, "6.1.0-18-amd64-jane", "6.1.0"},
		{event.VocabularyKernel, "10.0", "10.0"},
		{event.VocabularyKernel, "jane", ""},
		{event.VocabularyDistribution, "Debian", "debian"},
		{event.VocabularyDistribution, "janix", "other"},
		{event.VocabularyServerProvider, "", ""},
		{event.VocabularyServerProvider, "AWS", "aws"},
		{event.VocabularyServerProvider, "Jane's basement", "other"},
	}
	for _, tt := range tests {
		parse := parsers[tt.vocabulary]
		got := parse(tt.in)
		if got != tt.want {
			t.Errorf("%s of %.60q = %q, want %q", tt.vocabulary, tt.in, got, tt.want)
		}
		if again := parse(got); again != got {
			t.Errorf("%s of its own %q = %q, want it back", tt.vocabulary, got, again)
		}
	}
	for _, v := range event.Vocabularies() {
		if parsers[v] == nil {
			t.Errorf("vocabulary %s has no parser", v)
		}
	}
}

// FuzzParsers: what comes out comes out again, is short, and has no character
// that an address needs. A note is a label of a manifest, which may have spaces.
func FuzzParsers(f *testing.F) {
	for _, s := range []string{"curl/8.5.0", "application/json; x", "Meilisearch Go (v0.1)", "jane@example.com", "é", "a b ", "0 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for vocabulary, parse := range parsers {
			got, banned := parse(s), "@:\"<> "
			if vocabulary == event.VocabularyNote {
				banned = "@:\"<>"
			}
			if len(got) > 64 || strings.ContainsAny(got, banned) || parse(got) != got {
				t.Errorf("%s of %q = %q", vocabulary, s, got)
			}
		}
	})
}

func TestHandles(t *testing.T) {
	h := NewHandles()
	curl := h.UserAgent("curl/8.0")
	if again := h.UserAgent("curl/8.0"); again != curl || curl == 0 {
		t.Errorf("the handle of the same text = %d, then %d", curl, again)
	}
	if got := h.UserAgent("somebody"); got != h.UserAgent("somebody else") {
		t.Error("two unknown clients have different handles, want one: other")
	}
	if got, ok := h.text(event.VocabularyUserAgent, uint64(curl)); got != "curl/8.0" || !ok {
		t.Errorf("text = %q, %v, want curl/8.0", got, ok)
	}
	if _, ok := h.text(event.VocabularyMediaType, uint64(curl)); ok {
		t.Error("a handle has a text in another vocabulary, want none")
	}
	if h.Attribute("") != 0 || h.Kernel("jane") != 0 {
		t.Error("nothing has a handle, want 0")
	}
	other := NewHandles()
	other.load(append(h.save(), savedText{99, event.VocabularyUserAgent, "jane@example.com"}, savedText{98, "secrets", "x"}))
	if _, ok := other.text(event.VocabularyUserAgent, 99); ok {
		t.Error("load took a text that no parser lets in")
	}
	if got := other.UserAgent("curl/8.0"); got != curl {
		t.Errorf("the handle after load = %d, want %d", got, curl)
	}
	if got := other.UserAgent("wget/1.0"); got <= curl {
		t.Errorf("a new handle after load = %d, want one past %d", got, curl)
	}
	for n := range 2 * maxTexts {
		h.Attribute("field_" + string(rune('a'+n%26)) + strings.Repeat("b", n/26%50) + string(rune('a'+n/1300)))
	}
	if got, _ := h.text(event.VocabularyAttribute, uint64(h.Attribute("one_more"))); got != "other" {
		t.Errorf("a text past the bound = %q, want other", got)
	}
	h.turn()
	if _, ok := h.text(event.VocabularyUserAgent, uint64(curl)); ok {
		t.Error("a full table was kept over the edge of a window")
	}
	if got := h.UserAgent("curl/8.0"); got <= curl {
		t.Errorf("a handle was given again: %d", got)
	}
	if (*Handles)(nil).UserAgent("curl/8.0") != 0 {
		t.Error("a nil table has handles")
	}
}

// TestHandlesCopy reuses the memory of each text that was parsed, as a server does
// with a request's.
func TestHandlesCopy(t *testing.T) {
	t.Parallel()
	for vocabulary, of := range map[string]func(*Handles, string) event.Handle{
		event.VocabularyMediaType: (*Handles).MediaType,
		event.VocabularyUserAgent: (*Handles).UserAgent,
		event.VocabularyAttribute: (*Handles).Attribute,
		event.VocabularySource:    (*Handles).Source,
		event.VocabularyKernel:    (*Handles).Kernel,
	} {
		text := map[string]string{
			event.VocabularyMediaType: "text/csv; charset=x", event.VocabularyUserAgent: "curl/8.5.0", event.VocabularyAttribute: "id",
			event.VocabularySource: "openAi", event.VocabularyKernel: "6.1.0-18-amd64",
		}[vocabulary]
		h := NewHandles()
		want, _ := h.text(vocabulary, uint64(of(h, text)))
		buffer := []byte(text)
		h = NewHandles()
		handle := of(h, unsafe.String(&buffer[0], len(buffer)))
		copy(buffer, "my-secret-words-of-another")
		if got, ok := h.text(vocabulary, uint64(handle)); got != want || !ok || got == "" {
			t.Errorf("%s: %q became %q once its request was over, want %q", vocabulary, text, got, want)
		}
	}
}
