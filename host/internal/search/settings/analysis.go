package settings

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/text"
)

// DocumentSort reads the criteria that a listing is sorted by. Those of a
// search need the ranking rule sort; a listing has no other rules.
func (s *Settings) DocumentSort(criteria []string) ([]Criterion, error) {
	if len(criteria) > maxCriteria {
		return nil, apierr.Newf(indexerr.InvalidDocumentSort, "sort has %d criteria; it may have at most %d.", len(criteria), maxCriteria)
	}
	var rules []Criterion
	for i, c := range criteria {
		r, err := parseCriterion(c)
		if err == nil {
			err = s.allowSort(&r)
		}
		if err != nil {
			return nil, apierr.Newf(indexerr.InvalidDocumentSort, "sort[%d] is `%.100s`: %s.", i, c, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// Exported is what clients see of s, without the secrets of
// embedders; keyless names what is missing.
func (s *Settings) Exported() (body []byte, keyless []string, err error) {
	own := *s
	own.Embedders = map[string]Embedder{}
	for _, name := range slices.Sorted(maps.Keys(s.Embedders)) {
		e, had := s.Embedders[name].withoutSecrets(name)
		own.Embedders[name], keyless = e, append(keyless, had...)
	}
	body, err = json.Marshal(own)
	return body, keyless, err
}

// Facetable reports whether the values of attr may be shown and counted.
func (s *Settings) Facetable(attr string) bool {
	d := s.Displayed()
	return s.Filterable(attr) && (d == nil || d.ShowsAll(attr))
}

// Places reports whether conditions or criteria about places are allowed.
func (s *Settings) Places() bool { return s.Filterable(attribute.Geo) || s.sortable(attribute.Geo) }

// Analyzer splits texts as s says.
func (s *Settings) Analyzer() *text.Analyzer {
	return text.NewAnalyzer(s.SeparatorTokens, s.NonSeparatorTokens, s.Dictionary, s.StopWords, s.Localization())
}

// LongestSynonym is how many words of a query a synonym may stand for.
const LongestSynonym = 5

// maxSynonyms bounds what may stand for the same words.
const maxSynonyms = 50

// SynonymTable returns, by words with spaces between, what stands for them. Stop
// words are left out of both, as they are of queries.
func SynonymTable(an *text.Analyzer, synonyms map[string][]string) map[string][][]text.Word {
	if len(synonyms) == 0 {
		return nil
	}
	out := make(map[string][][]text.Word, len(synonyms))
	for k, list := range synonyms {
		key := text.JoinTerms(withoutStops(an.Split(k)))
		if key == "" {
			continue
		}
		for _, phrase := range list {
			ws := withoutStops(an.Split(phrase))
			if len(ws) == 0 || text.JoinTerms(ws) == key || len(out[key]) >= maxSynonyms {
				continue
			}
			for i := range ws {
				ws[i].Pos = i + 1 // "U.S. Army" is a phrase, too
			}
			out[key] = append(out[key], ws)
		}
	}
	return out
}

func withoutStops(ws []text.Word) []text.Word {
	return slices.DeleteFunc(ws, func(w text.Word) bool { return w.Stop })
}

// Distinct returns the attribute of whose values each brings one hit; asked is
// the query's own, which must be filterable.
func (s *Settings) Distinct(asked string) (string, error) {
	if asked == "" {
		return s.DistinctAttribute, nil
	}
	if s.Filterable(asked) {
		return asked, nil
	}
	known := "this index has no filterable attributes"
	if p := s.FilterPatterns(); len(p) > 0 {
		known = "filterable here: " + strings.Join(p, ", ")
	}
	return "", apierr.Newf(searcherr.InvalidSearchDistinct, "distinct is `%.100s`, which is not filterable; %.1000s; add it to the setting filterableAttributes.", asked, known)
}

// Shift brings a score of an embedder whose scores are as d says to where those
// of words are, so that both can be weighed against each other.
func (d *Distribution) Shift(score float32) float64 {
	x := float64(score)
	if d == nil {
		return x
	}
	const mean, sigma = 0.5, 0.4
	return math.Min(math.Max(mean+(x-d.Mean)*sigma/d.Sigma, 0), 1)
}
