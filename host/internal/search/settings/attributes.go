package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/search/attribute"
)

// readStarred reads attribute names, or "*" for all of them.
func readStarred(v value, dst *[]string) error {
	err := v.names(dst, "attribute names", func(v value, name string) error {
		if name != "*" && strings.Contains(name, "*") {
			return fmt.Errorf("%w: the only pattern that is taken here is \"*\", for all attributes", v.wrong("an attribute's name"))
		}
		return nil
	})
	if err == nil && slices.Contains(*dst, "*") {
		*dst = []string{"*"}
	}
	return err
}

// readSortable reads attribute names without patterns.
func readSortable(v value, dst *[]string) error {
	err := v.names(dst, "attribute names", checkAttribute)
	slices.Sort(*dst)
	return err
}

func checkAttribute(v value, name string) error {
	if strings.Contains(name, "*") {
		return fmt.Errorf("%w: name each attribute, patterns are not taken here", v.wrong("an attribute's name"))
	}
	if fn, _, ok := strings.Cut(name, "("); ok && strings.HasPrefix(fn, "_geo") {
		return fmt.Errorf("%w: it is `_geo` that documents have", v.wrong("an attribute's name"))
	}
	return nil
}

func readAttribute(v value, dst *string) error {
	var name string
	if err := v.name(&name, "an attribute's name or null"); err != nil {
		return err
	}
	if err := checkAttribute(v, name); err != nil {
		return err
	}
	*dst = name
	return nil
}

// A FilterableRule makes attributes filterable. Of several rules the first one
// that covers an attribute counts.
type FilterableRule struct {
	Patterns []string // names, with a "*" at the beginning, the end, both, or alone
	// Plain: it was sent as a name, and not as an object.
	Plain       bool
	FacetSearch bool // values may be searched by POST …/facet-search
	Equality    bool // = != IN EXISTS IS NULL IS EMPTY and the like
	Comparison  bool // < <= > >= TO
}

// plainRule is what an attribute's name alone stands for.
func plainRule(name string) FilterableRule {
	return FilterableRule{Patterns: []string{name}, Plain: true, FacetSearch: true, Equality: true, Comparison: true}
}

// MarshalJSON gives r as a client sees it.
func (r FilterableRule) MarshalJSON() ([]byte, error) {
	if r.Plain {
		return json.Marshal(r.Patterns[0])
	}
	type filter struct {
		Equality   bool `json:"equality"`
		Comparison bool `json:"comparison"`
	}
	type features struct {
		FacetSearch bool   `json:"facetSearch"`
		Filter      filter `json:"filter"`
	}
	return json.Marshal(struct {
		Patterns []string `json:"attributePatterns"`
		Features features `json:"features"`
	}{r.Patterns, features{r.FacetSearch, filter{r.Equality, r.Comparison}}})
}

// readFilterable reads names, patterns, and objects of patterns with what may
// be done by them. Where all are plain their order says nothing and is made
// the alphabet's.
func readFilterable(v value, dst *[]FilterableRule) error {
	rules, plain := []FilterableRule{}, map[string]bool{}
	err := v.each("attribute names, patterns and objects", func(e value) error {
		if e.raw[0] == '{' {
			r, err := readFilterableObject(e)
			rules = append(rules, r)
			return err
		}
		var name string
		if err := e.name(&name, "an attribute's name, a pattern or an object"); err != nil {
			return err
		}
		if err := checkPattern(e, name); err != nil {
			return err
		}
		if !plain[name] {
			plain[name] = true
			rules = append(rules, plainRule(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(plain) == len(rules) {
		slices.SortFunc(rules, func(a, b FilterableRule) int { return strings.Compare(a.Patterns[0], b.Patterns[0]) })
	}
	*dst = rules
	return nil
}

func readFilterableObject(v value) (FilterableRule, error) {
	r := FilterableRule{Equality: true}
	never := func() {}
	err := v.fields(map[string]fieldReader{
		"attributePatterns": {func(v value) error { return readPatterns(v, &r.Patterns) }, never},
		"features": {func(v value) error {
			return v.fields(map[string]fieldReader{
				"facetSearch": orDefault(&r.FacetSearch, false, value.boolean),
				"filter": {func(v value) error {
					return v.fields(map[string]fieldReader{
						"equality":   orDefault(&r.Equality, true, value.boolean),
						"comparison": orDefault(&r.Comparison, false, value.boolean),
					})
				}, never},
			})
		}, never},
	})
	if err == nil && len(r.Patterns) == 0 {
		err = fmt.Errorf("`%s.attributePatterns` is missing: send an array of at least one attribute name or pattern", v.path)
	}
	return r, err
}

func readPatterns(v value, dst *[]string) error {
	return v.names(dst, "attribute names and patterns", checkPattern)
}

// checkPattern refuses a "*" inside a name.
func checkPattern(v value, name string) error {
	if strings.Contains(strings.TrimSuffix(strings.TrimPrefix(name, "*"), "*"), "*") {
		return fmt.Errorf("%w: a pattern has its \"*\" at the beginning, at the end or alone", v.wrong("an attribute's name or a pattern"))
	}
	return nil
}

// FilterRule returns the rule that counts for an attribute; ok is false where
// it is not filterable.
func (s *Settings) FilterRule(attr string) (r FilterableRule, ok bool) {
	for _, r := range s.FilterableAttributes {
		if slices.ContainsFunc(r.Patterns, func(p string) bool { return attribute.MatchPattern(p, attr) }) {
			return r, true
		}
	}
	return FilterableRule{}, false
}

// Filterable reports whether a filter may ask about attr.
func (s *Settings) Filterable(attr string) bool {
	r, ok := s.FilterRule(attr)
	return ok && (r.Equality || r.Comparison)
}

// FilterFeatures reports whether a filter may ask about attr for equality, and by
// order.
func (s *Settings) FilterFeatures(attr string) (equality, comparison bool) {
	r, _ := s.FilterRule(attr)
	return r.Equality, r.Comparison
}

// FilterPatterns lists all names and patterns of the filterable attributes,
// sorted.
func (s *Settings) FilterPatterns() []string {
	all := map[string]bool{}
	for _, r := range s.FilterableAttributes {
		for _, p := range r.Patterns {
			all[p] = true
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(all))...)
}

// Displayed is the selection of the displayed attributes.
func (s *Settings) Displayed() *attribute.Selection {
	return attribute.NewSelection(s.DisplayedAttributes)
}

// searchable reports whether the field path is searched.
func (s *Settings) searchable(path string) bool {
	return slices.Contains(s.SearchableAttributes, "*") || attribute.CoveredBy(s.SearchableAttributes, path)
}
