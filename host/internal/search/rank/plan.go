package rank

import (
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A Plan says what is looked for, and what the order of the hits goes by.
type Plan struct {
	Parsed   text.Query
	Strategy settings.Strategy
	Criteria []settings.Criterion // of the parameter sort
	Distinct string               // the attribute; "": none
	Fields   Fields
	Typo     TypoPolicy
	// Synonyms are, by words with spaces between, what stands for them.
	Synonyms    map[string][][]text.Word
	ByAttribute bool // words of one attribute are near, wherever they stand
	Settings    *settings.Settings
	Locales     []string
	Need        int     // hits that are to be ranked
	Exact       bool    // all hits are counted, and not only as far as they are ranked
	Threshold   float64 // of the score; 0: none
	Details     bool    // say how each rule judged
	Unlike      string  // the id of a document that is no hit; "": none
}

// rules returns the order of the hits.
func (p *Plan) rules() []settings.Criterion {
	return p.Settings.Rules(p.Criteria, len(p.Parsed.Units) > 0, p.Strategy)
}

// A TypoPolicy says how many typos a word may have.
type TypoPolicy struct {
	enabled bool
	one     int // the least characters for one typo
	two     int // and for two
	never   map[string]bool
	numbers bool // numbers may have typos, too
}

// NewTypoPolicy reads the setting.
func NewTypoPolicy(t *settings.TypoTolerance) TypoPolicy {
	p := TypoPolicy{enabled: t.Enabled, one: t.OneTypo, two: t.TwoTypos, never: map[string]bool{}, numbers: !t.DisableOnNumbers}
	for _, w := range t.DisableOnWords {
		p.never[text.Fold(w)] = true
	}
	return p
}

// Allowed is how many typos a word may have.
func (p *TypoPolicy) Allowed(term string) int {
	switch n := utf8.RuneCountInString(term); {
	case !p.enabled, n < p.one, p.never[term], !p.numbers && strings.Trim(term, "0123456789") == "":
		return 0
	case n < p.two:
		return 1
	}
	return 2
}

// AllowedInValue is how many typos the beginning of a value may have. As in
// Meilisearch its bytes count.
func (p *TypoPolicy) AllowedInValue(begin string) int {
	switch n := len(begin); {
	case !p.enabled, n < p.one, p.never[begin]:
		return 0
	case n < p.two:
		return 1
	}
	return 2
}

// Fields says in which fields words count, by the fields' numbers.
type Fields struct {
	Ranks []uint16 // for the rule attribute, best first
	Worst int      // the lowest rank that the settings give
	In    []bool   // words match; nil: in all
	// Searched are the fields whose words count at all, matched or not; nil: all of the
	// folder's.
	Searched []bool
	Typos    []bool // words with typos count, too; nil: in all
	// alphabets are those that words are looked for in; nil: in the common one.
	Alphabets []text.AlphabetSet
}

// all reports whether a word with so many typos, of some alphabets, counts in all
// fields.
func (f *Fields) all(typos uint8, in text.AlphabetSet) bool {
	return f.In == nil && f.Searched == nil && (typos == 0 || f.Typos == nil) && (f.Alphabets == nil || in == text.AllAlphabets)
}

// counts reports whether such a word makes a document match in a field.
func (f *Fields) counts(field uint16, typos uint8, in text.AlphabetSet) bool {
	return f.matches(field) && f.places(field, typos, in)
}

// matches reports whether words match in a field.
func (f *Fields) matches(field uint16) bool { return at(f.In, field) }

// places reports whether the places of such a word in a field count, once it matches
// somewhere. As in Meilisearch they do in fields that are not searched, too.
func (f *Fields) places(field uint16, typos uint8, in text.AlphabetSet) bool {
	return at(f.Searched, field) && (typos == 0 || at(f.Typos, field)) &&
		(f.Alphabets == nil || int(field) < len(f.Alphabets) && f.Alphabets[field]&in != 0)
}

// at reports list[i]. A field newer than the list is one that this search does
// not know.
func at(list []bool, i uint16) bool { return list == nil || int(i) < len(list) && list[i] }

// rank is a field's rank for the rule attribute.
func (f *Fields) rank(field uint16) uint32 {
	if int(field) < len(f.Ranks) {
		return uint32(f.Ranks[field])
	}
	return unknownRank
}

const unknownRank = 1<<16 - 1
