package search

import (
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A rankPlan says what is looked for, and what the order of the hits goes by.
type rankPlan struct {
	parsed   text.Query
	strategy settings.Strategy
	criteria []settings.Criterion // of the parameter sort
	distinct string               // the attribute; "": none
	fields   fields
	typo     typoPolicy
	// synonyms are, by words with spaces between, what stands for them.
	synonyms    map[string][][]text.Word
	byAttribute bool // words of one attribute are near, wherever they stand
	settings    *settings.Settings
	locales     []string
	need        int     // hits that are to be ranked
	threshold   float64 // of the score; 0: none
	details     bool    // say how each rule judged
	unlike      string  // the id of a document that is no hit; "": none
}

// rules returns the order of the hits.
func (p *rankPlan) rules() []settings.Criterion {
	return p.settings.Rules(p.criteria, len(p.parsed.Units) > 0, p.strategy)
}

// A typoPolicy says how many typos a word may have.
type typoPolicy struct {
	enabled bool
	one     int // the least characters for one typo
	two     int // and for two
	never   map[string]bool
	numbers bool // numbers may have typos, too
}

func newTypoPolicy(t *settings.TypoTolerance) typoPolicy {
	p := typoPolicy{enabled: t.Enabled, one: t.OneTypo, two: t.TwoTypos, never: map[string]bool{}, numbers: !t.DisableOnNumbers}
	for _, w := range t.DisableOnWords {
		p.never[text.Fold(w)] = true
	}
	return p
}

// allowed is how many typos a word may have.
func (p *typoPolicy) allowed(term string) int {
	switch n := utf8.RuneCountInString(term); {
	case !p.enabled, n < p.one, p.never[term], !p.numbers && strings.Trim(term, "0123456789") == "":
		return 0
	case n < p.two:
		return 1
	}
	return 2
}

// fields says in which fields words count, by the fields' numbers.
type fields struct {
	ranks []uint16 // for the rule attribute, best first
	in    []bool   // words count; nil: in all
	typos []bool   // words with typos count, too; nil: in all
	// alphabets are those that words are looked for in; nil: in the common one.
	alphabets []text.AlphabetSet
}

// all reports whether a word with so many typos, of some alphabets, counts in all
// fields.
func (f *fields) all(typos uint8, in text.AlphabetSet) bool {
	return f.in == nil && (typos == 0 || f.typos == nil) && (f.alphabets == nil || in == text.AllAlphabets)
}

// counts reports whether such a word counts in a field.
func (f *fields) counts(field uint16, typos uint8, in text.AlphabetSet) bool {
	return at(f.in, field) && (typos == 0 || at(f.typos, field)) &&
		(f.alphabets == nil || int(field) < len(f.alphabets) && f.alphabets[field]&in != 0)
}

// at reports list[i]. A field newer than the list is one that this search does
// not know.
func at(list []bool, i uint16) bool { return list == nil || int(i) < len(list) && list[i] }

// narrow makes words count in no other fields than these.
func (f *fields) narrow(in []bool) {
	for i := range in {
		in[i] = in[i] && at(f.in, uint16(i))
	}
	f.in = in
}

// rank is a field's rank for the rule attribute.
func (f *fields) rank(field uint16) uint32 {
	if int(field) < len(f.ranks) {
		return uint32(f.ranks[field])
	}
	return unknownRank
}

const unknownRank = 1<<16 - 1
