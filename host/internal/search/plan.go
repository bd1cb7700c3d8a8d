package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/apierr"
)

// A plan is what a search goes by: its query and the settings of its index,
// checked.
type plan struct {
	query    *Query
	parsed   parsedQuery
	page     paging
	strategy Strategy
	criteria []rule // of the parameter sort
	distinct string // the attribute; "": none
	facets   []string
	crops    []crop
	fields   fields
	typo     typoPolicy
	// synonyms are, by words with spaces between, what stands for them.
	synonyms    map[string][][]word
	byAttribute bool // words of one attribute are near, wherever they stand
	settings    *Settings
	semantics   *semantics // nil: by words alone
}

// newPlan checks q against the index. A mistake is an [apierr.Error] with the
// code of the parameter.
func newPlan(m *meta, q *Query) (*plan, error) {
	s := &m.Settings
	p := &plan{query: q, settings: s, strategy: q.MatchingStrategy, byAttribute: s.ProximityPrecision == ByAttribute}
	if p.strategy == "" {
		p.strategy = Last
	}
	var err error
	if p.page, err = q.paging(s.Pagination.MaxTotalHits); err != nil {
		return nil, err
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	if p.criteria, err = s.sortRules(q.Sort); err != nil {
		return nil, err
	}
	if p.distinct, err = s.distinct(q.Distinct); err != nil {
		return nil, err
	}
	if p.facets, err = m.facets(q.Facets); err != nil {
		return nil, err
	}
	if p.crops, err = q.Format.crops(); err != nil {
		return nil, err
	}
	if p.fields, err = m.fieldsFor(q.AttributesToSearchOn, q.Locales); err != nil {
		return nil, err
	}
	if p.semantics, err = newSemantics(m, q); err != nil {
		return nil, err
	}
	p.typo = newTypoPolicy(&s.TypoTolerance)
	an := s.analyzer()
	p.synonyms = synonymTable(an, s.Synonyms)
	qp := queryParser{analyzer: an, stop: s.stopTerms(), prefix: s.PrefixSearch != PrefixDisabled}
	p.parsed = qp.parse(q.Q)
	return p, nil
}

// rules returns the order of the hits.
func (p *plan) rules() []rule {
	return p.settings.rules(p.criteria, len(p.parsed.units) > 0, p.strategy)
}

// analyzer splits texts as s says.
func (s *Settings) analyzer() *analyzer {
	return newAnalyzer(s.SeparatorTokens, s.NonSeparatorTokens, s.Dictionary, s.localization())
}

// stopTerms are the stop words as words have them.
func (s *Settings) stopTerms() map[string]bool {
	out := make(map[string]bool, len(s.StopWords))
	an := s.analyzer()
	for _, w := range s.StopWords {
		if ws := an.words(w); len(ws) == 1 {
			out[ws[0].term] = true
		}
	}
	return out
}

// longestSynonym is how many words of a query a synonym may stand for.
const longestSynonym = 5

// maxSynonyms bounds what may stand for the same words.
const maxSynonyms = 50

// synonymTable returns, by words with spaces between, what stands for them.
func synonymTable(an *analyzer, synonyms map[string][]string) map[string][][]word {
	if len(synonyms) == 0 {
		return nil
	}
	out := make(map[string][][]word, len(synonyms))
	for k, list := range synonyms {
		key := joinWords(an.words(k))
		for _, text := range list {
			ws := an.words(text)
			if len(ws) == 0 || joinWords(ws) == key || len(out[key]) >= maxSynonyms {
				continue
			}
			for i := range ws {
				ws[i].pos = i + 1 // "U.S. Army" is a phrase, too
			}
			out[key] = append(out[key], ws)
		}
	}
	return out
}

// A typoPolicy says how many typos a word may have.
type typoPolicy struct {
	enabled bool
	one     int // the least characters for one typo
	two     int // and for two
	never   map[string]bool
	numbers bool // numbers may have typos, too
}

func newTypoPolicy(t *TypoTolerance) typoPolicy {
	p := typoPolicy{enabled: t.Enabled, one: t.OneTypo, two: t.TwoTypos, never: map[string]bool{}, numbers: !t.DisableOnNumbers}
	for _, w := range t.DisableOnWords {
		p.never[fold(w)] = true
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
	// tongues are those that words are looked for in; nil: in the common one.
	tongues []tongueSet
}

// all reports whether a word with so many typos, of some tongues, counts in all
// fields.
func (f *fields) all(typos uint8, in tongueSet) bool {
	return f.in == nil && (typos == 0 || f.typos == nil) && (f.tongues == nil || in == allTongues)
}

// counts reports whether such a word counts in a field.
func (f *fields) counts(field uint16, typos uint8, in tongueSet) bool {
	return at(f.in, field) && (typos == 0 || at(f.typos, field)) &&
		(f.tongues == nil || int(field) < len(f.tongues) && f.tongues[field]&in != 0)
}

// at reports list[i]. A field newer than the list is one that this search does
// not know.
func at(list []bool, i uint16) bool { return list == nil || int(i) < len(list) && list[i] }

// rank is a field's rank for the rule attribute.
func (f *fields) rank(field uint16) uint32 {
	if int(field) < len(f.ranks) {
		return uint32(f.ranks[field])
	}
	return unknownRank
}

const unknownRank = 1<<16 - 1

// fieldsFor returns where words count in a search on attributes, in languages;
// nil, or attributes with "*", means all that are searchable, or languages.
func (m *meta) fieldsFor(attributes, locales []string) (fields, error) {
	f := fields{ranks: m.ranks()}
	if l := m.Settings.localization(); l != nil {
		f.tongues = make([]tongueSet, len(m.Fields))
		for i, path := range m.Fields {
			f.tongues[i] = l.asked(path, tonguesOf(locales))
		}
	}
	if attributes != nil && !slices.Contains(attributes, "*") {
		for i, a := range attributes {
			if !m.searches(a) {
				known := "this index searches " + strings.Join(m.Settings.SearchableAttributes, ", ")
				if slices.Contains(m.Settings.SearchableAttributes, "*") {
					known = "no document of this index has it"
				}
				return f, apierr.Newf(apierr.InvalidSearchAttributesSearchOn, "attributesToSearchOn[%d] is `%.100s`, which is not searchable; %.1000s.", i, a, known)
			}
		}
		f.in = m.fieldsBelow(attributes)
	}
	if none := m.Settings.TypoTolerance.DisableOnAttributes; len(none) > 0 {
		f.typos = m.fieldsBelow(none)
		for i := range f.typos {
			f.typos[i] = !f.typos[i]
		}
	}
	return f, nil
}

// leaveOut makes words count only in fields that are searched, where the folder
// has others too.
func (f *fields) leaveOut(m *meta, sc *schema) {
	if !sc.excess(&m.Settings) {
		return
	}
	searched := m.fieldsBelow(m.Settings.SearchableAttributes)
	for i := range searched {
		searched[i] = searched[i] && at(f.in, uint16(i))
	}
	f.in = searched
}

// fieldsBelow says of each field whether it is one of the attributes or below
// one.
func (m *meta) fieldsBelow(attributes []string) []bool {
	out := make([]bool, len(m.Fields))
	for i, f := range m.Fields {
		out[i] = coveredBy(attributes, f)
	}
	return out
}

// searches reports whether words are looked for in an attribute, or in some
// below it.
func (m *meta) searches(attribute string) bool {
	if slices.Contains(m.Settings.SearchableAttributes, "*") {
		return slices.ContainsFunc(m.Fields, func(f string) bool { return covers(attribute, f) })
	}
	return slices.ContainsFunc(m.Settings.SearchableAttributes, func(a string) bool { return covers(a, attribute) || covers(attribute, a) })
}
