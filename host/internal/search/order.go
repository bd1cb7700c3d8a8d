package search

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// An orderStep is one part of what orders the hits of several searches: how
// well the words match, by all rules about texts that stand side by side, or a
// value to sort by.
type orderStep struct {
	texts bool
	score float64 // of texts
	blank bool    // there are no words that could match
	key   folder.SortKey
	kind  settings.CriterionKind // of a value
	down  bool
	// hidden: clients may not see the value, which has no say beside hits of
	// another host.
	hidden bool
}

// orderRules is what orders the hits of a search beside those of others, the
// same whether it has words or not.
func (p *rankPlan) orderRules() []settings.Criterion {
	return p.settings.Rules(p.criteria, true, p.strategy)
}

// orderShape is the kind of each step of the order, fit to be compared.
func (p *rankPlan) orderShape() []string {
	var out []string
	for _, r := range p.orderRules() {
		switch {
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

// apartAt returns the first step at which two orders cannot be one; ok is false
// where they can.
func apartAt(a, b []string) (step int, ok bool) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i, true
		}
	}
	return 0, false
}

// orders returns the steps of each document of list.
func (s *ranker) orders(list []found) ([][]orderStep, error) {
	out := make([][]orderStep, len(list))
	byDoc := make([]int, len(list)) // columns are read in the order of documents
	for i := range byDoc {
		byDoc[i] = i
	}
	slices.SortFunc(byDoc, func(a, b int) int { return cmp.Compare(list[a].doc, list[b].doc) })
	docs := make([]uint32, len(list))
	for i, n := range byDoc {
		docs[i] = list[n].doc
	}
	displayed := s.plan.settings.Displayed()
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
				out[n] = append(out[n], orderStep{key: keys[i], kind: r.Kind, down: r.Descending, hidden: hidden})
			}
			rules = rules[1:]
			continue
		}
		n := slices.IndexFunc(rules, func(r settings.Criterion) bool { return !r.OfTexts() })
		if n < 0 {
			n = len(rules)
		}
		for i := range list {
			step := orderStep{texts: true, blank: len(s.plan.parsed.Units) == 0}
			if f := &list[i]; !f.byMeaning {
				step.score = s.scoreBy(&f.ranking, rules[:n])
			} else if step.blank = false; first {
				step.score = f.score // all that it has to say of texts
			}
			out[i] = append(out[i], step)
		}
		first = false
		rules = rules[n:]
	}
	return out, nil
}

// A standing is what orders a hit among those of other searches.
type standing struct {
	steps    []orderStep
	weight   float64 // of its search
	weighted float64 // its score times that
	remote   string  // the host that found it; "": this one
}

// compare orders hits of several searches, the better first.
func (a *standing) compare(b *standing) int {
	for i := range min(len(a.steps), len(b.steps)) {
		x, y := &a.steps[i], &b.steps[i]
		c := 0
		switch {
		case x.texts != y.texts || x.kind != y.kind || x.down != y.down: // of another host, maybe
		case (x.hidden || y.hidden) && a.remote != b.remote:
		case x.texts && x.blank && y.blank: // their weights alone would decide
		case x.texts:
			c = cmp.Compare(y.score*b.weight, x.score*a.weight)
		default:
			c = x.key.Compare(&y.key, x.down)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(b.weighted, a.weighted)
}
