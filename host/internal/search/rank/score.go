package rank

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// A step is how far a rule about texts got with a document: have of of, and at
// least 1.
type step struct{ have, of float64 }

// steps returns how far each kind of rule about texts got, in one step or two. They
// are those of Meilisearch, so that a threshold, a ratio or a weight means the same
// here.
func (s *Searcher) steps(r *ranking, kind settings.CriterionKind) (first, second step) {
	n := r.units.count()
	switch kind {
	case settings.WordsRule:
		if s.plan.Strategy == settings.Any {
			return step{1 + math.Floor(shareSteps*shareOf(s.worth, r.units)), 1 + shareSteps}, oneStep
		}
		most := s.countWords()
		return step{float64(most - (len(s.plan.Parsed.Units) - n)), float64(most)}, oneStep
	case settings.TypoRule:
		return stepDown(int(r.typos), s.typosOf(r)), oneStep
	case settings.ProximityRule:
		return stepDown(int(r.proximity), max(s.mostApartOf(r.units, int(r.typos)), int(r.proximity))), oneStep
	case settings.AttributeRankRule:
		return stepDown(int(r.field), s.plan.Fields.Worst*n), oneStep
	case settings.WordPositionRule:
		return stepDown(int(r.place), mostPlace*n), oneStep
	case settings.AttributeRule:
		return stepDown(int(r.field), s.plan.Fields.Worst*n), stepDown(int(r.place), mostPlace*n)
	case settings.ExactnessRule:
		return stepDown(int(r.match), int(noExactMatch)), stepDown(int(r.inexact), n)
	}
	return oneStep, oneStep
}

// oneStep leaves everything undecided.
var oneStep = step{1, 1}

// stepDown is how far a rule got by which a document costs so much of most.
func stepDown(cost, most int) step {
	return step{float64(most + 1 - min(cost, most)), float64(most + 1)}
}

// countWords is how many words of the query may be found: of phrases each one
// counts, for a unit that is missing costs one.
func (s *Searcher) countWords() int {
	n := 0
	for i := range s.plan.Parsed.Units {
		if u := &s.plan.Parsed.Units[i]; u.Phrase {
			for k := range u.Words {
				if !u.Words[k].Stop {
					n++
				}
			}
		} else {
			n++
		}
	}
	return n
}

// typosOf is the most typos that what a ranking has may have.
func (s *Searcher) typosOf(r *ranking) int {
	return max(s.mostTyposOf(r.units), int(r.typos))
}

// pairsOf is how many units stand side by side in the query.
func (s *Searcher) pairsOf(units unitSet) int {
	n, last := 0, -1
	for i := range s.plan.Parsed.Units {
		if !units.has(i) {
			continue
		}
		if last >= 0 && neighbours(&s.plan.Parsed.Units[last], &s.plan.Parsed.Units[i]) {
			n++
		}
		last = i
	}
	return n
}

// within makes one step of two, of which next divides what s left undecided.
func (s step) within(next step) step {
	return step{(s.have-1)*next.of + next.have, s.of * next.of}
}

// score is a ranking as a number from 0 to 1: each rule divides what the ones
// before left undecided.
func (s *Searcher) score(r *ranking) float64 {
	return s.scoreBy(r, s.rules)
}

// scoreBy is the score by some rules.
func (s *Searcher) scoreBy(r *ranking, rules []settings.Criterion) float64 {
	if len(s.plan.Parsed.Units) == 0 {
		return 1
	}
	if r.unranked {
		return 0
	}
	score := oneStep
	for i := range rules {
		first, second := s.steps(r, rules[i].Kind)
		score = score.within(first).within(second)
	}
	return score.have / score.of
}

// Extras are what is told of hits besides their documents, by their place in
// the list.
type Extras struct {
	keys [][]bleveindex.SortKey // for each of the searcher's rules; nil for those about texts
	away []float64              // metres to the place of the sort; nil without one
}

// Extras works them out for the hits.
func (s *Searcher) Extras(list []Found) (Extras, error) {
	var x Extras
	order := make([]int, len(list)) // columns are read in the order of documents
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(list[a].Doc) - int(list[b].Doc) })
	docs := make([]uint32, len(list))
	for i, n := range order {
		docs[i] = list[n].Doc
	}
	displayed := s.plan.Settings.Displayed()
	if i := slices.IndexFunc(s.plan.Criteria, func(r settings.Criterion) bool { return r.Kind == settings.GeoRule }); i >= 0 && (displayed == nil || displayed.ShowsAll(attribute.Geo)) {
		away, err := s.View.Distances(s.plan.Criteria[i].Lat, s.plan.Criteria[i].Lng, docs)
		if err != nil {
			return x, err
		}
		x.away = make([]float64, len(list))
		for i, n := range order {
			x.away[n] = away[i]
		}
	}
	if !s.plan.Details {
		return x, nil
	}
	x.keys = make([][]bleveindex.SortKey, len(s.rules))
	for i := range s.rules {
		r := &s.rules[i]
		if r.OfTexts() || displayed != nil && !displayed.ShowsAll(r.Field) {
			continue
		}
		keys, err := s.keys(r, docs)
		if err != nil {
			return x, err
		}
		x.keys[i] = make([]bleveindex.SortKey, len(list))
		for k, n := range order {
			x.keys[i][n] = keys[k]
		}
	}
	return x, nil
}

// Distance is the way from a hit to the place of the sort, nil where it is not
// told.
func (x *Extras) Distance(i int) *int64 {
	if x.away == nil || math.IsInf(x.away[i], 1) {
		return nil
	}
	return new(int64(math.Round(x.away[i])))
}

// A ruleDetail is what a rule says of a hit, for people.
type ruleDetail struct {
	Order         int      `json:"order"`
	MatchType     string   `json:"matchType,omitempty"`
	MatchingWords *int     `json:"matchingWords,omitempty"`
	MaxWords      *int     `json:"maxMatchingWords,omitempty"`
	TypoCount     *int     `json:"typoCount,omitempty"`
	MaxTypos      *int     `json:"maxTypoCount,omitempty"`
	AttributeRank *float64 `json:"attributeRankingOrderScore,omitempty"`
	WordDistance  *float64 `json:"queryWordDistanceScore,omitempty"`
	Value         any      `json:"value,omitempty"`
	Distance      *int64   `json:"distance,omitempty"`
	Score         *float64 `json:"score,omitempty"`
}

// Details writes how each rule judged the i-th hit, as an object in the order
// of the rules. Values of attributes that are not displayed are left out.
func (s *Searcher) Details(h *Found, i int, x *Extras) json.RawMessage {
	out := []byte{'{'}
	put := func(name string, d ruleDetail) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(highlight.AppendString(out, name), ':'), encodeDetail(d)...)
	}
	if h.ranking.unranked {
		put("skipped", ruleDetail{})
		return append(out, '}')
	}
	for n := range s.rules {
		r := &s.rules[n]
		d := ruleDetail{Order: n}
		if r.OfTexts() {
			s.detail(&d, &h.ranking, r.Kind)
		} else if x.keys[n] != nil {
			key := &x.keys[n][i]
			switch {
			case key.Kind == 1:
				d.Value = key.Text
			case key.Kind == 0 && r.Kind == settings.GeoRule:
				d.Distance = new(int64(math.Round(key.Number)))
			case key.Kind == 0:
				d.Value = key.Number
			default:
				d.Value = json.RawMessage("null")
			}
		}
		put(r.Name, d)
	}
	return append(out, '}')
}

// detail fills in what a rule about texts says.
func (s *Searcher) detail(d *ruleDetail, r *ranking, kind settings.CriterionKind) {
	first, second := s.steps(r, kind)
	share := func(st step) *float64 { return new(st.have / st.of) }
	d.Score = share(first.within(second))
	switch kind {
	case settings.WordsRule:
		most := s.countWords()
		d.MatchingWords, d.MaxWords = new(most-(len(s.plan.Parsed.Units)-r.units.count())), new(most)
	case settings.TypoRule:
		d.TypoCount, d.MaxTypos = new(int(r.typos)), new(int(first.of)-1)
	case settings.AttributeRule:
		d.AttributeRank, d.WordDistance = share(first), share(second)
	case settings.ExactnessRule:
		d.MatchType = [...]string{"exactMatch", "matchesStart", "noExactMatch"}[r.match]
		if r.match != noExactMatch {
			d.Score = share(first)
			break
		}
		d.MatchingWords, d.MaxWords = new(int(second.have)-1), new(int(second.of)-1)
	}
}

func encodeDetail(d ruleDetail) []byte {
	b, err := json.Marshal(d)
	if err != nil {
		panic("search: encode score details: " + strconv.Quote(err.Error())) // only numbers and texts in it
	}
	return b
}
