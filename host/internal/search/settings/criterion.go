package settings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/attribute"
)

// A Criterion is one step of the order of hits, for one search.
type Criterion struct {
	Kind       CriterionKind
	Name       string // as the score's details call it
	Field      string // of FieldRule
	Lat, Lng   float64
	Descending bool
}

// A CriterionKind says what a rule looks at.
type CriterionKind uint8

const (
	WordsRule CriterionKind = iota
	TypoRule
	ProximityRule
	AttributeRule // AttributeRankRule, then WordPositionRule
	AttributeRankRule
	WordPositionRule
	ExactnessRule
	FieldRule // the documents' own value
	GeoRule   // the distance from lat, lng
)

// OfTexts reports whether the rule is about how words match.
func (r *Criterion) OfTexts() bool { return r.Kind < FieldRule }

// Rules returns the rules of a search that is sorted by criteria. Without words
// those about texts have nothing to say.
func (s *Settings) Rules(criteria []Criterion, texts bool, strategy Strategy) []Criterion {
	kinds := map[string]CriterionKind{
		RuleWords: WordsRule, RuleTypo: TypoRule, RuleProximity: ProximityRule, RuleExactness: ExactnessRule,
		RuleAttribute: AttributeRule, RuleAttributeRank: AttributeRankRule, RuleWordPosition: WordPositionRule,
	}
	var out []Criterion
	has := func(kinds ...CriterionKind) bool {
		return slices.ContainsFunc(out, func(c Criterion) bool { return slices.Contains(kinds, c.Kind) })
	}
	// A hit that lacks words is never judged by how well it has them: where a
	// rule about texts comes before the rule words, words goes first.
	words := !texts || strategy == All
	for _, r := range s.RankingRules {
		kind, ofTexts := kinds[r.Rule]
		switch {
		case r.Rule == RuleSort:
			out = append(out, criteria...)
		case r.Rule == "":
			out = append(out, Criterion{Kind: FieldRule, Name: r.String(), Field: r.Attribute, Descending: r.Descending})
		case ofTexts && texts:
			if kind == WordsRule && words {
				continue // it stands before already, or no word may be missing
			}
			if !words && kind != WordsRule {
				out = append(out, Criterion{Kind: WordsRule, Name: RuleWords})
			}
			words = true
			switch kind {
			case AttributeRule:
				if has(AttributeRankRule, WordPositionRule) {
					continue
				}
			case AttributeRankRule, WordPositionRule:
				if has(AttributeRule) {
					continue // it says so already
				}
			}
			out = append(out, Criterion{Kind: kind, Name: r.Rule})
		}
	}
	return out
}

// SortRules reads the criteria of the parameter sort, as `attribute:asc` and
// `_geoPoint(latitude, longitude):desc`.
func (s *Settings) SortRules(criteria []string) ([]Criterion, error) {
	if len(criteria) == 0 {
		return nil, nil
	}
	if !slices.ContainsFunc(s.RankingRules, func(r RankingRule) bool { return r.Rule == RuleSort }) {
		return nil, apierr.Newf(searcherr.InvalidSearchSort, "The setting rankingRules of this index has no rule `sort`; add it there, where it should count, or send no parameter sort.")
	}
	if len(criteria) > maxCriteria {
		return nil, apierr.Newf(searcherr.InvalidSearchSort, "sort has %d criteria; it may have at most %d.", len(criteria), maxCriteria)
	}
	var out []Criterion
	for i, c := range criteria {
		r, err := parseCriterion(c)
		if err == nil {
			err = s.allowSort(&r)
		}
		if err != nil {
			return nil, apierr.Newf(searcherr.InvalidSearchSort, "sort[%d] is `%.100s`: %s.", i, c, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// maxCriteria bounds the criteria of one sort.
const maxCriteria = 1024

func parseCriterion(c string) (Criterion, error) {
	what, order, ok := attribute.CutLast(c, ":")
	r := Criterion{Kind: FieldRule, Name: c, Field: strings.TrimSpace(what), Descending: order == "desc"}
	if !ok || order != "asc" && order != "desc" {
		return r, fmt.Errorf("it does not end in `:asc` or `:desc`")
	}
	switch {
	case r.Field == "":
		return r, fmt.Errorf("there is no attribute before `:%s`", order)
	case r.Field == attribute.Geo:
		return r, fmt.Errorf("`%s` is a place; sort by the way to one with `_geoPoint(latitude, longitude):%s`", attribute.Geo, order)
	case !strings.HasPrefix(r.Field, attribute.Geo) || !strings.Contains(r.Field, "("):
		return r, nil
	}
	const shape = "`_geoPoint(latitude, longitude)`"
	args, ok := strings.CutPrefix(r.Field, "_geoPoint(")
	if !ok || !strings.HasSuffix(args, ")") {
		return r, fmt.Errorf("expected an attribute or %s", shape)
	}
	r.Kind, r.Field = GeoRule, attribute.Geo
	one, two, ok := strings.Cut(strings.TrimSuffix(args, ")"), ",")
	var errLat, errLng error
	r.Lat, errLat = strconv.ParseFloat(strings.TrimSpace(one), 64)
	r.Lng, errLng = strconv.ParseFloat(strings.TrimSpace(two), 64)
	switch {
	case !ok || errLat != nil || errLng != nil:
		return r, fmt.Errorf("expected two numbers, as in %s", shape)
	case !(math.Abs(r.Lat) <= 90):
		return r, fmt.Errorf("latitude %v; expected -90 to 90", r.Lat)
	case !(math.Abs(r.Lng) <= 180):
		return r, fmt.Errorf("longitude %v; expected -180 to 180", r.Lng)
	}
	return r, nil
}

// sortable reports whether hits may be sorted by attr.
func (s *Settings) sortable(attr string) bool { return attribute.CoveredBy(s.SortableAttributes, attr) }

// allowSort checks that hits may be sorted by r.
func (s *Settings) allowSort(r *Criterion) error {
	if s.sortable(r.Field) {
		return nil
	}
	known := "this index has no sortable attributes"
	if len(s.SortableAttributes) > 0 {
		known = "sortable here: " + strings.Join(s.SortableAttributes, ", ")
	}
	return fmt.Errorf("attribute `%.100s` is not sortable; %s; add it to the setting sortableAttributes", r.Field, known)
}
