package settings

import (
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/search/text"
	"golang.org/x/text/language"
)

// readSynonyms reads an object of words, or several words, each with what may
// stand for it.
func readSynonyms(v value, dst *map[string][]string) error {
	synonyms := map[string][]string{}
	err := v.members(func(word string, v value) error {
		if len(text.SplitWords(word)) == 0 || len(word) > MaxName {
			return fmt.Errorf("`synonyms` has the key %.100q, which must be a text of at most %d bytes with a word in it", word, MaxName)
		}
		var list []string
		err := v.names(&list, "words", func(v value, synonym string) error {
			if len(text.SplitWords(synonym)) == 0 {
				return v.wrong("a text with a word in it")
			}
			return nil
		})
		synonyms[word] = list
		return err
	})
	if err == nil {
		*dst = synonyms
	}
	return err
}

// A LocalizedRule says in which languages attributes are written. Of several
// rules the first one that covers an attribute counts.
type LocalizedRule struct {
	Patterns []string // as those of a [FilterableRule]
	Locales  []string // ISO 639 codes, as they were sent
}

func readLocalized(v value, dst *[]LocalizedRule) error {
	rules := []LocalizedRule{}
	err := v.each("objects with `attributePatterns` and `locales`", func(v value) error {
		var r LocalizedRule
		never := func() {}
		err := v.fields(map[string]fieldReader{
			"attributePatterns": {func(v value) error { return readPatterns(v, &r.Patterns) }, never},
			"locales":           {func(v value) error { return v.names(&r.Locales, "locales", checkLocale) }, never},
		})
		if err == nil && r.Patterns == nil {
			err = fmt.Errorf("`%s.attributePatterns` is missing: send an array of attribute names and patterns", v.path)
		}
		if err == nil && r.Locales == nil {
			err = fmt.Errorf("`%s.locales` is missing: send an array of language codes such as \"jpn\"", v.path)
		}
		rules = append(rules, r)
		return err
	})
	if err == nil {
		*dst = rules
	}
	return err
}

// checkLocale takes the codes of languages in two or three letters.
func checkLocale(v value, code string) error {
	if !IsLocale(code) {
		return v.wrong("a language's code of ISO 639, such as \"jpn\" or \"ja\"")
	}
	return nil
}

func IsLocale(code string) bool {
	b, err := language.ParseBase(code)
	return err == nil && b.String() != "und" && lower(code)
}

func lower(s string) bool {
	return len(s) > 0 && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c < 'a' || c > 'z' })
}

func wireLocalized(rules []LocalizedRule) any {
	if rules == nil {
		return nil
	}
	type rule struct {
		Patterns []string `json:"attributePatterns"`
		Locales  []string `json:"locales"`
	}
	list := make([]rule, len(rules))
	for i, r := range rules {
		list[i] = rule(r)
	}
	return list
}

// Localization returns nil where the languages of s change nothing.
func (s *Settings) Localization() text.Localization {
	var l text.Localization
	var all text.AlphabetSet
	for _, r := range s.LocalizedAttributes {
		in := text.AlphabetsOf(r.Locales)
		if in == 0 { // of no language: of any
			in = 1 << text.Common
		}
		l, all = append(l, text.AlphabetRule{Patterns: r.Patterns, Alphabets: in}), all|in
	}
	if all&^(1<<text.Common) == 0 {
		return nil
	}
	return l
}
