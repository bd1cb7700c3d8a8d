package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// A RankingRule is one rule of the order of hits: one of those with a name, or a
// document's own attribute.
type RankingRule struct {
	Rule       string // one of the constants below; "" for an attribute
	Attribute  string
	Descending bool
}

// The rules, by their names on the wire, in their default order.
const (
	RuleWords     = "words"
	RuleTypo      = "typo"
	RuleProximity = "proximity"
	RuleAttribute = "attribute"
	RuleSort      = "sort"
	RuleExactness = "exactness"
)

// The halves of the rule attribute, for those who want something between them.
const (
	RuleAttributeRank = "attributeRank"
	RuleWordPosition  = "wordPosition"
)

func ruleNames() []string {
	return []string{RuleWords, RuleTypo, RuleProximity, RuleAttribute, RuleSort, RuleExactness, RuleAttributeRank, RuleWordPosition}
}

func defaultRankingRules() []RankingRule {
	var rules []RankingRule
	for _, n := range ruleNames()[:6] {
		rules = append(rules, RankingRule{Rule: n})
	}
	return rules
}

func (r RankingRule) String() string {
	switch {
	case r.Rule != "":
		return r.Rule
	case r.Descending:
		return r.Attribute + ":desc"
	}
	return r.Attribute + ":asc"
}

// MarshalJSON gives r as a client sees it.
func (r RankingRule) MarshalJSON() ([]byte, error) { return json.Marshal(r.String()) }

func readRankingRules(v value, dst *[]RankingRule) error {
	rules := []RankingRule{}
	err := v.each("ranking rules", func(e value) error {
		var text string
		if err := e.name(&text, "a ranking rule"); err != nil {
			return err
		}
		r, err := parseRankingRule(e, text)
		if err != nil {
			return err
		}
		if !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
		return nil
	})
	if err == nil {
		*dst = rules
	}
	return err
}

func parseRankingRule(v value, text string) (RankingRule, error) {
	if slices.Contains(ruleNames(), text) {
		return RankingRule{Rule: text}, nil
	}
	i := strings.LastIndexByte(text, ':')
	if i > 0 && (text[i+1:] == "asc" || text[i+1:] == "desc") {
		attr := text[:i]
		if strings.HasPrefix(attr, "_geo") || strings.Contains(attr, "*") {
			return RankingRule{}, fmt.Errorf("%w: places and patterns cannot be ranked by; the search parameter `sort` takes `_geoPoint(lat, lng):asc`", v.wrong("a ranking rule"))
		}
		return RankingRule{Attribute: attr, Descending: text[i+1:] == "desc"}, nil
	}
	err := v.wrong("one of " + strings.Join(ruleNames(), ", ") + ", or `attribute:asc`, or `attribute:desc`")
	if near := apierr.Nearest(text, ruleNames()); near != "" {
		err = fmt.Errorf("%w: did you mean `%s`?", err, near)
	}
	return RankingRule{}, err
}

// A ProximityPrecision says how near words count as near.
type ProximityPrecision string

// The precisions, by their names on the wire.
const (
	ByWord      ProximityPrecision = "byWord"      // by the words between
	ByAttribute ProximityPrecision = "byAttribute" // in one attribute or not
)

// A PrefixSearch says whether the last word of a query may be a beginning.
type PrefixSearch string

// The choices, by their names on the wire.
const (
	PrefixIndexing PrefixSearch = "indexingTime" // it may
	PrefixDisabled PrefixSearch = "disabled"
)

// TypoTolerance says which words of a query may be written wrongly.
type TypoTolerance struct {
	Enabled             bool
	OneTypo, TwoTypos   int      // the least characters of a word that may have them
	DisableOnWords      []string // sorted
	DisableOnAttributes []string // sorted
	DisableOnNumbers    bool
}

// maxTypoLen bounds OneTypo and TwoTypos.
const maxTypoLen = 255

func defaultTypoTolerance() TypoTolerance {
	return TypoTolerance{Enabled: true, OneTypo: 5, TwoTypos: 9, DisableOnWords: []string{}, DisableOnAttributes: []string{}}
}

// wire is t as a client sees it.
func (t *TypoTolerance) wire() any {
	type sizes struct {
		OneTypo  int `json:"oneTypo"`
		TwoTypos int `json:"twoTypos"`
	}
	return struct {
		Enabled    bool     `json:"enabled"`
		Sizes      sizes    `json:"minWordSizeForTypos"`
		Words      []string `json:"disableOnWords"`
		Attributes []string `json:"disableOnAttributes"`
		Numbers    bool     `json:"disableOnNumbers"`
	}{t.Enabled, sizes{t.OneTypo, t.TwoTypos}, t.DisableOnWords, t.DisableOnAttributes, t.DisableOnNumbers}
}

func readTypoTolerance(v value, t *TypoTolerance) error {
	d := defaultTypoTolerance()
	given := 0
	size := func(v value, dst *int) error {
		given++
		return v.integer(dst, 0, maxTypoLen)
	}
	err := v.fields(map[string]fieldReader{
		"enabled": orDefault(&t.Enabled, d.Enabled, value.boolean),
		"minWordSizeForTypos": {
			func(v value) error {
				return v.fields(map[string]fieldReader{
					"oneTypo":  orDefault(&t.OneTypo, d.OneTypo, size),
					"twoTypos": orDefault(&t.TwoTypos, d.TwoTypos, size),
				})
			},
			func() { t.OneTypo, t.TwoTypos = d.OneTypo, d.TwoTypos },
		},
		"disableOnWords":      orDefault(&t.DisableOnWords, d.DisableOnWords, readSet("words")),
		"disableOnAttributes": orDefault(&t.DisableOnAttributes, d.DisableOnAttributes, readSortable),
		"disableOnNumbers":    orDefault(&t.DisableOnNumbers, d.DisableOnNumbers, value.boolean),
	})
	if err == nil && given == 2 {
		err = t.check()
	}
	return err
}

func (t *TypoTolerance) check() error {
	if t.OneTypo > t.TwoTypos {
		return fmt.Errorf("`typoTolerance.minWordSizeForTypos.oneTypo` must be at most `twoTypos`, but is %d, and `twoTypos` is %d", t.OneTypo, t.TwoTypos)
	}
	return nil
}
