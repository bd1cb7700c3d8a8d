package search

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A plan is what a search goes by: its query and the settings of its index,
// checked.
type plan struct {
	query    *Query
	parsed   text.Query
	page     paging
	strategy settings.Strategy
	criteria []settings.Criterion // of the parameter sort
	distinct string               // the attribute; "": none
	facets   []string
	crops    []highlight.Crop
	fields   fields
	typo     typoPolicy
	// synonyms are, by words with spaces between, what stands for them.
	synonyms    map[string][][]text.Word
	byAttribute bool // words of one attribute are near, wherever they stand
	settings    *settings.Settings
	semantics   *semantics // nil: by words alone
}

// newPlan checks q against the index. A mistake is an [apierr.Error] with the
// code of the parameter. ruled: the caller may see some documents only, and must
// not learn what fields the others have.
func newPlan(ctx context.Context, m *meta, q *Query, ruled bool) (*plan, error) {
	s := &m.Settings
	if len(q.Q) > text.MaxQueryText {
		q.Q = strings.Clone(text.Clip(q.Q, text.MaxQueryText))
	}
	p := &plan{query: q, settings: s, strategy: q.MatchingStrategy, byAttribute: s.ProximityPrecision == settings.ByAttribute}
	if p.strategy == "" {
		p.strategy = settings.Last
	}
	var err error
	if p.page, err = q.paging(s.Pagination.MaxTotalHits); err != nil {
		return nil, err
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	if p.criteria, err = s.SortRules(q.Sort); err != nil {
		return nil, err
	}
	if p.distinct, err = s.Distinct(q.Distinct); err != nil {
		return nil, err
	}
	if p.facets, err = m.facets(q.Facets, ruled); err != nil {
		return nil, err
	}
	if p.crops, err = q.Format.Crops(); err != nil {
		return nil, err
	}
	if p.fields, err = m.fieldsFor(q.AttributesToSearchOn, q.Locales, ruled); err != nil {
		return nil, err
	}
	if p.semantics, err = newSemantics(ctx, m, q); err != nil {
		return nil, err
	}
	p.typo = newTypoPolicy(&s.TypoTolerance)
	an := s.Analyzer()
	p.synonyms = settings.SynonymTable(an, s.Synonyms)
	qp := text.QueryParser{Analyzer: an, Stop: s.StopTerms(), Prefix: s.PrefixSearch != settings.PrefixDisabled}
	p.parsed = qp.Parse(q.Q)
	return p, nil
}

// rules returns the order of the hits.
func (p *plan) rules() []settings.Criterion {
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

// rank is a field's rank for the rule attribute.
func (f *fields) rank(field uint16) uint32 {
	if int(field) < len(f.ranks) {
		return uint32(f.ranks[field])
	}
	return unknownRank
}

const unknownRank = 1<<16 - 1

// fieldsFor returns where words count in a search on attributes, in languages;
// nil, or attributes with "*", means all that are searchable, or languages. For
// a ruled caller any attribute will do where all are searched: that no document
// has it is not for that caller to know.
func (m *meta) fieldsFor(attributes, locales []string, ruled bool) (fields, error) {
	f := fields{ranks: m.ranks()}
	if l := m.Settings.Localization(); l != nil {
		f.alphabets = make([]text.AlphabetSet, len(m.Fields))
		for i, path := range m.Fields {
			f.alphabets[i] = l.Asked(path, text.AlphabetsOf(locales))
		}
	}
	if attributes != nil && !slices.Contains(attributes, "*") {
		any := ruled && slices.Contains(m.Settings.SearchableAttributes, "*")
		for i, a := range attributes {
			if !any && !m.searches(a) {
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
func (f *fields) leaveOut(m *meta, sc *folder.Schema) {
	if !sc.Excess(settings.SchemaOf(&m.Settings)) {
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
		out[i] = attribute.CoveredBy(attributes, f)
	}
	return out
}

// searches reports whether words are looked for in an attribute, or in some
// below it.
func (m *meta) searches(attr string) bool {
	if slices.Contains(m.Settings.SearchableAttributes, "*") {
		return slices.ContainsFunc(m.Fields, func(f string) bool { return attribute.Covers(attr, f) })
	}
	return slices.ContainsFunc(m.Settings.SearchableAttributes, func(a string) bool { return attribute.Covers(a, attr) || attribute.Covers(attr, a) })
}
