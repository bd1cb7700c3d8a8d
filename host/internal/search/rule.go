package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
)

// A rule is one step of the order of hits, for one search.
type rule struct {
	kind       ruleKind
	name       string // as the score's details call it
	field      string // of fieldRule
	lat, lng   float64
	descending bool
}

// A ruleKind says what a rule looks at.
type ruleKind uint8

const (
	wordsRule ruleKind = iota
	typoRule
	proximityRule
	attributeRule
	exactnessRule
	fieldRule // the documents' own value
	geoRule   // the distance from lat, lng
)

// ofTexts reports whether the rule is about how words match.
func (r *rule) ofTexts() bool { return r.kind < fieldRule }

// rules returns the rules of a search that is sorted by criteria. Without words
// those about texts have nothing to say.
func (s *Settings) rules(criteria []rule, texts bool, strategy Strategy) []rule {
	kinds := map[string]ruleKind{RuleWords: wordsRule, RuleTypo: typoRule, RuleProximity: proximityRule, RuleAttribute: attributeRule, RuleExactness: exactnessRule}
	var out []rule
	// A hit that lacks words is never judged by how well it has them: where a
	// rule about texts comes before the rule words, words goes first.
	words := !texts || strategy == All
	for _, r := range s.RankingRules {
		kind, ofTexts := kinds[r.Rule]
		switch {
		case r.Rule == RuleSort:
			out = append(out, criteria...)
		case r.Rule == "":
			out = append(out, rule{kind: fieldRule, name: r.String(), field: r.Attribute, descending: r.Descending})
		case ofTexts && texts:
			if kind == wordsRule && words && strategy != All {
				continue // it stands before already
			}
			if !words && kind != wordsRule {
				out = append(out, rule{kind: wordsRule, name: RuleWords})
			}
			words = true
			out = append(out, rule{kind: kind, name: r.Rule})
		}
	}
	return out
}

// sortRules reads the criteria of the parameter sort, as `attribute:asc` and
// `_geoPoint(latitude, longitude):desc`.
func (s *Settings) sortRules(criteria []string) ([]rule, error) {
	if len(criteria) == 0 {
		return nil, nil
	}
	if !slices.ContainsFunc(s.RankingRules, func(r RankingRule) bool { return r.Rule == RuleSort }) {
		return nil, apierr.Newf(apierr.InvalidSearchSort, "The setting rankingRules of this index has no rule `sort`; add it there, where it should count, or send no parameter sort.")
	}
	if len(criteria) > maxCriteria {
		return nil, apierr.Newf(apierr.InvalidSearchSort, "sort has %d criteria; it may have at most %d.", len(criteria), maxCriteria)
	}
	var out []rule
	for i, c := range criteria {
		r, err := parseCriterion(c)
		if err == nil {
			err = s.allowSort(&r)
		}
		if err != nil {
			return nil, apierr.Newf(apierr.InvalidSearchSort, "sort[%d] is `%.100s`: %s.", i, c, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// maxCriteria bounds the criteria of one sort.
const maxCriteria = 1024

func parseCriterion(c string) (rule, error) {
	what, order, ok := cutLast(c, ":")
	r := rule{kind: fieldRule, name: c, field: strings.TrimSpace(what), descending: order == "desc"}
	if !ok || order != "asc" && order != "desc" {
		return r, fmt.Errorf("it does not end in `:asc` or `:desc`")
	}
	switch {
	case r.field == "":
		return r, fmt.Errorf("there is no attribute before `:%s`", order)
	case r.field == geoAttr:
		return r, fmt.Errorf("`%s` is a place; sort by the way to one with `_geoPoint(latitude, longitude):%s`", geoAttr, order)
	case !strings.HasPrefix(r.field, geoAttr) || !strings.Contains(r.field, "("):
		return r, nil
	}
	const shape = "`_geoPoint(latitude, longitude)`"
	args, ok := strings.CutPrefix(r.field, "_geoPoint(")
	if !ok || !strings.HasSuffix(args, ")") {
		return r, fmt.Errorf("expected an attribute or %s", shape)
	}
	r.kind, r.field = geoRule, geoAttr
	one, two, ok := strings.Cut(strings.TrimSuffix(args, ")"), ",")
	var errLat, errLng error
	r.lat, errLat = strconv.ParseFloat(strings.TrimSpace(one), 64)
	r.lng, errLng = strconv.ParseFloat(strings.TrimSpace(two), 64)
	switch {
	case !ok || errLat != nil || errLng != nil:
		return r, fmt.Errorf("expected two numbers, as in %s", shape)
	case !(math.Abs(r.lat) <= 90):
		return r, fmt.Errorf("latitude %v; expected -90 to 90", r.lat)
	case !(math.Abs(r.lng) <= 180):
		return r, fmt.Errorf("longitude %v; expected -180 to 180", r.lng)
	}
	return r, nil
}

// sortable reports whether hits may be sorted by attr.
func (s *Settings) sortable(attr string) bool { return coveredBy(s.SortableAttributes, attr) }

// allowSort checks that hits may be sorted by r.
func (s *Settings) allowSort(r *rule) error {
	if s.sortable(r.field) {
		return nil
	}
	known := "this index has no sortable attributes"
	if len(s.SortableAttributes) > 0 {
		known = "sortable here: " + strings.Join(s.SortableAttributes, ", ")
	}
	return fmt.Errorf("attribute `%.100s` is not sortable; %s; add it to the setting sortableAttributes", r.field, known)
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
