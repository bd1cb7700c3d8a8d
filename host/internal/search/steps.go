package search

import (
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/feature"
)

// A Step is a part of a search, by Meilisearch's name for it, and how long it took.
type Step struct {
	Name string
	Took time.Duration
}

// step begins a step, which ends where done is called.
func (rd *reading) step(name string) (done func()) {
	start := time.Now()
	return func() { rd.steps = append(rd.steps, Step{name, time.Since(start)}) }
}

// rankingStep names the step of ranking.
func (q *Query) rankingStep() string {
	if q.blank() {
		return "search > execute local search > placeholder ranking"
	}
	return "search > execute local search > keyword ranking"
}

// checkOffered refuses what this host has not, or not now.
func (s *Service) checkOffered(q *Query) error {
	on := s.opts.Features()
	switch {
	case q.UseNetwork != nil && !on.Network:
		return feature.Off(feature.Network, "`useNetwork`")
	case q.UseNetwork != nil && *q.UseNetwork:
		return apierr.Newf(searcherr.InvalidSearchUseNetwork, "`useNetwork` is true, and this host asks no other hosts by itself: name them in a federated search, by `federationOptions.remote`.")
	case q.Media != nil && !on.Multimodal:
		return feature.Off(feature.Multimodal, "`media`")
	case q.Personalize:
		return NoPersonalization("personalize")
	}
	return nil
}

// NoPersonalization is the error of a request for hits in an order made for one user, by
// a parameter.
func NoPersonalization(parameter string) error {
	return apierr.Newf(apierr.FeatureNotEnabled, "`%s` needs a feature that this host does not have: leave it out. The ranking rules and `sort` decide the order.", parameter)
}
