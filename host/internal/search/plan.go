package search

import (
	"context"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/rank"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A plan is what a search goes by: its query and the settings of its index,
// checked.
type plan struct {
	rank.Plan
	query     *Query
	page      paging
	facets    []string
	crops     []highlight.Crop
	semantics *semantics // nil: by words alone
}

// newPlan checks q against the index. A mistake is an [apierr.Error] with the
// code of the parameter. ruled: the caller may see some documents only, and must
// not learn what fields the others have.
func newPlan(ctx context.Context, m *index.Meta, q *Query, ruled bool) (*plan, error) {
	s := &m.Settings
	if len(q.Q) > text.MaxQueryText {
		q.Q = strings.Clone(text.Clip(q.Q, text.MaxQueryText))
	}
	p := &plan{query: q}
	p.Plan = rank.Plan{
		Settings: s, Strategy: q.MatchingStrategy, ByAttribute: s.ProximityPrecision == settings.ByAttribute,
		Threshold: q.RankingScoreThreshold, Details: q.ShowRankingScoreDetails, Locales: q.Locales, Unlike: q.unlike,
	}
	if p.Strategy == "" {
		p.Strategy = settings.Last
	}
	var err error
	if p.page, err = q.paging(s.Pagination.MaxTotalHits); err != nil {
		return nil, err
	}
	p.Need, p.Exact = p.page.end(), p.page.paged
	if err := q.check(); err != nil {
		return nil, err
	}
	if p.Criteria, err = s.SortRules(q.Sort); err != nil {
		return nil, err
	}
	if p.Distinct, err = s.Distinct(q.Distinct); err != nil {
		return nil, err
	}
	if p.facets, err = checkFacets(m, q.Facets, ruled); err != nil {
		return nil, err
	}
	if p.crops, err = q.Format.Crops(); err != nil {
		return nil, err
	}
	if p.Fields, err = fieldsFor(m, q.AttributesToSearchOn, q.Locales); err != nil {
		return nil, err
	}
	if p.semantics, err = newSemantics(ctx, m, q); err != nil {
		return nil, err
	}
	p.Typo = rank.NewTypoPolicy(&s.TypoTolerance)
	an := s.Analyzer()
	p.Synonyms = settings.SynonymTable(an, s.Synonyms)
	qp := text.QueryParser{Analyzer: an, Prefix: s.PrefixSearch != settings.PrefixDisabled}
	p.Parsed = qp.Parse(q.Q)
	return p, nil
}

// fieldsFor returns where words count in a search on attributes, in languages;
// nil, or attributes with "*", means all that are searchable, or languages. Where all
// are searched any attribute will do, as in Meilisearch, also one that no document has.
func fieldsFor(m *index.Meta, attributes, locales []string) (rank.Fields, error) {
	f := rank.Fields{Ranks: m.Ranks()}
	if all := m.Settings.SearchableAttributes; !slices.Contains(all, "*") {
		f.Worst = max(len(all)-1, 0)
	}
	if l := m.Settings.Localization(); l != nil {
		f.Alphabets = make([]text.AlphabetSet, len(m.Fields))
		for i, path := range m.Fields {
			f.Alphabets[i] = l.Asked(path, text.AlphabetsOf(locales))
		}
	}
	if attributes != nil && !slices.Contains(attributes, "*") {
		searched := m.Settings.SearchableAttributes
		for i, a := range attributes {
			if !slices.Contains(searched, "*") && !m.Searches(a) {
				return f, apierr.Newf(searcherr.InvalidSearchAttributesSearchOn, "attributesToSearchOn[%d] is `%.100s`, which is not searchable; this index searches %.1000s.", i, a, strings.Join(searched, ", "))
			}
		}
		f.In = m.FieldsBelow(attributes)
	}
	if none := m.Settings.TypoTolerance.DisableOnAttributes; len(none) > 0 {
		f.Typos = m.FieldsBelow(none)
		for i := range f.Typos {
			f.Typos[i] = !f.Typos[i]
		}
	}
	return f, nil
}

// leaveOut makes words count only in fields that are searched, where the folder
// has others too.
func leaveOut(m *index.Meta, f *rank.Fields, sc *bleveindex.Schema) {
	if !sc.Excess(settings.SchemaOf(&m.Settings)) {
		return
	}
	f.Searched = m.FieldsBelow(m.Settings.SearchableAttributes)
}
