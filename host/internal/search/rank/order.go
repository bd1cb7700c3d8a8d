package rank

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// An OrderStep is one part of what orders the hits of several searches: how
// well the words match, by all rules about texts that stand side by side, or a
// value to sort by.
type OrderStep struct {
	Texts bool
	Score float64 // of texts
	Blank bool    // there are no words that could match
	Key   bleveindex.SortKey
	Kind  settings.CriterionKind // of a value
	Down  bool
	// hidden: clients may not see the value, which does not count beside hits of
	// another host.
	Hidden bool
}

// orderRules is what orders the hits of a search beside those of others, the
// same whether it has words or not.
func (p *Plan) orderRules() []settings.Criterion {
	return p.Settings.Rules(p.Criteria, true, p.Strategy)
}

// OrderShape is the kind of each step of the order, fit to be compared; blank says that
// nothing is looked for, so that rules about texts have no say.
func (p *Plan) OrderShape(blank bool) []string {
	var out []string
	for _, r := range p.orderRules() {
		switch {
		case r.OfTexts() && blank:
		case r.OfTexts():
			if len(out) == 0 || out[len(out)-1] != shapeOfTexts {
				out = append(out, shapeOfTexts)
			}
		case r.Kind == settings.GeoRule:
			out = append(out, "by a distance, "+direction(r.Descending))
		default:
			out = append(out, "by a value, "+direction(r.Descending))
		}
	}
	return out
}

const shapeOfTexts = "by how well the words match"

func direction(descending bool) string {
	if descending {
		return "descending"
	}
	return "ascending"
}

// ApartAt returns the first step at which two orders cannot be one; ok is false
// where they can.
func ApartAt(a, b []string) (step int, ok bool) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i, true
		}
	}
	return 0, false
}

// Orders returns the steps of each document of list.
func (s *Searcher) Orders(list []Found) ([][]OrderStep, error) {
	out := make([][]OrderStep, len(list))
	byDoc := make([]int, len(list)) // columns are read in the order of documents
	for i := range byDoc {
		byDoc[i] = i
	}
	slices.SortFunc(byDoc, func(a, b int) int { return cmp.Compare(list[a].Doc, list[b].Doc) })
	docs := make([]uint32, len(list))
	for i, n := range byDoc {
		docs[i] = list[n].Doc
	}
	displayed := s.plan.Settings.Displayed()
	rules, first := s.plan.orderRules(), true
	for len(rules) > 0 {
		if !rules[0].OfTexts() {
			r := &rules[0]
			keys, err := s.keys(r, docs)
			if err != nil {
				return nil, fmt.Errorf("read values to sort by: %w", err)
			}
			hidden := displayed != nil && !displayed.ShowsAll(r.Field)
			for i, n := range byDoc {
				out[n] = append(out[n], OrderStep{Key: keys[i], Kind: r.Kind, Down: r.Descending, Hidden: hidden})
			}
			rules = rules[1:]
			continue
		}
		n := slices.IndexFunc(rules, func(r settings.Criterion) bool { return !r.OfTexts() })
		if n < 0 {
			n = len(rules)
		}
		for i := range list {
			step := OrderStep{Texts: true, Blank: len(s.plan.Parsed.Units) == 0}
			if f := &list[i]; !f.ByMeaning {
				step.Score = s.scoreBy(&f.ranking, rules[:n])
			} else if step.Blank = false; first {
				step.Score = f.Score // all that it has to say of texts
			}
			out[i] = append(out[i], step)
		}
		first = false
		rules = rules[n:]
	}
	return out, nil
}

// A Standing is what orders a hit among those of other searches.
type Standing struct {
	Steps    []OrderStep
	Weight   float64 // of its search
	Weighted float64 // its score times that
	Remote   string  // the host that found it; "": this one
}

// Compare orders hits of several searches, the better first.
func (a *Standing) Compare(b *Standing) int {
	for i := range min(len(a.Steps), len(b.Steps)) {
		x, y := &a.Steps[i], &b.Steps[i]
		c := 0
		switch {
		case x.Texts != y.Texts || x.Kind != y.Kind || x.Down != y.Down: // of another host, maybe
		case (x.Hidden || y.Hidden) && a.Remote != b.Remote:
		case x.Texts && x.Blank && y.Blank: // their weights alone would decide
		case x.Texts && x.Blank != y.Blank: // what was looked for is before what was not
			if c = -1; x.Blank {
				c = 1
			}
		case x.Texts:
			c = cmp.Compare(y.Score*b.Weight, x.Score*a.Weight)
		default:
			c = x.Key.Compare(&y.Key, x.Down)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(b.Weighted, a.Weighted)
}
