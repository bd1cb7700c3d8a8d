package passage

import (
	"slices"
	"strings"
	"testing"
)

func TestSynonyms(t *testing.T) {
	tests := []struct {
		lang, word string
		want       string
	}{
		{"en", "disabled", "deactivate"}, // a form of a word
		{"en", "turnoff", "disable"},     // two words as one
		{"de", "urlaub", "ferien"},
		{"", "urlaub", "ferien"}, // keywords alone do not name their language
		{"", "invoice", "bill"},
		{"fr", "loyer", "bail"},
	}
	for _, tt := range tests {
		if got := Synonyms(tt.lang, tt.word); !slices.Contains(got, tt.want) || slices.Contains(got, tt.word) {
			t.Errorf("Synonyms(%q, %q) = %q, want %q among them, and not the word itself", tt.lang, tt.word, got, tt.want)
		}
	}
	if got := Synonyms("ru", "invoice"); got != nil {
		t.Errorf("synonyms in a language that has none: %q", got)
	}
}

// TestSynonymText wants each group to have two words or more, each of them once, below the name of a language.
func TestSynonymText(t *testing.T) {
	lang := ""
	for line := range strings.Lines(synonymText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if strings.HasPrefix(line, "[") {
			lang = strings.Trim(words[0], "[]")
			continue
		}
		slices.Sort(words)
		if len(words) < 2 || len(slices.Compact(slices.Clone(words))) < len(words) || !slices.Contains([]string{"en", "de", "fr"}, lang) {
			t.Errorf("group %q of language %q", line, lang)
		}
	}
}
