package federate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// Header, on a multi-search, asks for what another host needs to put
// the hits among its own, see [Hit.Order], and to count facets together
// with its own, see [Federation.Host].
const Header = "X-Parley-Federation"

// A remoteSearch is the part of a federated search that one remote answers.
type remoteSearch struct {
	name    string
	remote  network.Remote
	queries []int // positions
	body    []byte
	answer  *remoteAnswer
	err     *apierr.Error
}

// splitRemotes returns the positions of the queries that this host answers, and
// the searches of the others, ready to be sent.
func (w *federated) splitRemotes(ctx context.Context) (local []int, remotes []*remoteSearch, err error) {
	byName := map[string]*remoteSearch{}
	for i := range w.queries {
		o := w.queries[i].Options
		if o == nil || o.Remote == "" {
			local = append(local, i)
			continue
		}
		if !w.service.opts.Features().Network {
			return nil, nil, inQuery(i, feature.Off(feature.Network, "`federationOptions.remote`"))
		}
		if w.service.opts.Remotes == nil || w.service.opts.Upstream == nil {
			return nil, nil, inQuery(i, apierr.Newf(searcherr.InvalidMultiSearchRemote, "`federationOptions.remote`: this host asks no other one."))
		}
		r := byName[o.Remote]
		if r == nil {
			remote, self, err := w.service.opts.Remotes.Remote(ctx, o.Remote)
			if err != nil {
				return nil, nil, inQuery(i, err)
			}
			w.res.Self = self
			if o.Remote == self {
				local = append(local, i)
				continue
			}
			r = &remoteSearch{name: o.Remote, remote: remote}
			byName[o.Remote] = r
			remotes = append(remotes, r)
		}
		r.queries = append(r.queries, i)
	}
	for _, r := range remotes {
		if err := w.compose(r); err != nil {
			return nil, nil, err
		}
	}
	return local, remotes, nil
}

// compose writes what a remote is sent. What the caller may not search it may
// not search there, and the filter of its tenant token goes along.
func (w *federated) compose(r *remoteSearch) error {
	f := w.federation
	need := min(w.res.Offset+w.res.Limit, settings.MaxTotalHits)
	federation := map[string]any{"offset": 0, "limit": need}
	if f.Distinct != "" {
		federation["distinct"] = f.Distinct
	}
	facets := map[string][]string{}
	var queries []map[string]json.RawMessage
	for _, i := range r.queries {
		q := &w.queries[i]
		rule, ok := w.caller.Index(q.IndexUID)
		if !ok {
			return inQuery(i, index.NotFound(q.IndexUID))
		}
		joined, err := joinFilters(rule, q.Filter)
		if err != nil {
			return inQuery(i, filter.Refuse(err, searcherr.InvalidSearchFilter))
		}
		members := map[string]json.RawMessage{}
		if err := json.Unmarshal(q.Raw, &members); err != nil {
			return fmt.Errorf("read query %d: %w", i, err)
		}
		delete(members, "filter")
		delete(members, "useNetwork") // the feature may be off there
		if joined != nil {
			members["filter"] = joined
		}
		weight := 1.0
		if q.Options.Weight != nil {
			weight = *q.Options.Weight
		}
		if members["federationOptions"], err = json.Marshal(map[string]any{"weight": weight, "queryPosition": i}); err != nil {
			return fmt.Errorf("encode query %d: %w", i, err)
		}
		queries = append(queries, members)
		if asked, ok := f.FacetsByIndex[q.IndexUID]; ok {
			facets[q.IndexUID] = asked
		}
	}
	if len(facets) > 0 {
		federation["facetsByIndex"] = facets
	}
	var err error
	if r.body, err = json.Marshal(map[string]any{"federation": federation, "queries": queries}); err != nil {
		return fmt.Errorf("encode queries for %q: %w", r.name, err)
	}
	return nil
}

// joinFilters returns a filter that lets through what all of the filters do:
// arrays of what each of them asks.
func joinFilters(filters ...json.RawMessage) (json.RawMessage, error) {
	var all []json.RawMessage
	for _, f := range filters {
		f = bytes.TrimSpace(f)
		n, err := filter.Parse(f, true, nil)
		if err != nil {
			return nil, err
		}
		switch {
		case n == nil:
		case f[0] == '[':
			rawjson.EachElement(f, func(e []byte) bool { all = append(all, e); return true })
		default:
			all = append(all, f)
		}
	}
	if all == nil {
		return nil, nil
	}
	return json.Marshal(all)
}
