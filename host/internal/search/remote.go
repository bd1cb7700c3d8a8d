package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/feature"
	"github.com/parley-search/parley/host/internal/network"
)

// Remotes knows the other hosts that queries of a federation may be sent to. See
// package network.
type Remotes interface {
	// Remote returns the host of a name; self says that it is this one. An error
	// for a name that is not known is an [apierr.Error].
	Remote(ctx context.Context, name string) (r network.Remote, self bool, err error)
}

// FederationHeader, on a multi-search, asks for what another host needs to put
// the hits among its own: see [FederatedHit.Order].
const FederationHeader = "X-Parley-Federation"

// maxRemoteAnswer bounds the bytes of a remote's answer.
const maxRemoteAnswer = 64 << 20

// A remoteSearch is the part of a federated search that one remote answers.
type remoteSearch struct {
	name    string
	remote  network.Remote
	queries []int // positions
	body    []byte
	answer  *remoteAnswer
	err     *apierr.Error
}

// splitRemotes takes the queries that other hosts are to answer out of byIndex's
// making: it returns the positions of those of this host, and the searches of
// the others, ready to be sent.
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
			return nil, nil, inQuery(i, apierr.Newf(apierr.InvalidMultiSearchRemote, "`federationOptions.remote`: this host asks no other one."))
		}
		r := byName[o.Remote]
		if r == nil {
			remote, self, err := w.service.opts.Remotes.Remote(ctx, o.Remote)
			if err != nil {
				return nil, nil, inQuery(i, err)
			}
			if self {
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
	need := min(w.res.Offset+w.res.Limit, maxTotalHits)
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
			return inQuery(i, notFound(q.IndexUID))
		}
		filter, err := joinFilters(rule, q.Filter)
		if err != nil {
			return inQuery(i, apierr.Newf(apierr.InvalidSearchFilter, "%s", sentence(err.Error())))
		}
		members := map[string]json.RawMessage{}
		if err := json.Unmarshal(q.Raw, &members); err != nil {
			return fmt.Errorf("read query %d: %w", i, err)
		}
		delete(members, "filter")
		if filter != nil {
			members["filter"] = filter
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
		n, err := parseFilter(f, true)
		if err != nil {
			return nil, err
		}
		switch {
		case n == nil:
		case f[0] == '[':
			eachElement(f, func(_ int, e []byte) bool { all = append(all, e); return true })
		default:
			all = append(all, f)
		}
	}
	if all == nil {
		return nil, nil
	}
	return json.Marshal(all)
}

// ask sends the searches to their remotes and returns what waits for them. One
// that fails says so in its err, and is in nobody's way.
func (w *federated) ask(ctx context.Context, remotes []*remoteSearch) (wait func()) {
	ctx, cancel := context.WithTimeout(ctx, w.service.opts.RemoteTimeout)
	var all sync.WaitGroup
	for _, r := range remotes {
		all.Go(func() { r.answer, r.err = r.send(ctx, w.service.opts.Upstream, w.service.opts.RemoteTimeout) })
	}
	return func() { all.Wait(); cancel() }
}

// send sends one search.
func (r *remoteSearch) send(ctx context.Context, up chat.Upstream, limit time.Duration) (*remoteAnswer, *apierr.Error) {
	failed := func(code apierr.Code, err error, format string, args ...any) (*remoteAnswer, *apierr.Error) {
		return nil, &apierr.Error{Code: code, Err: err, Message: fmt.Sprintf("Remote `%s` ", r.name) + fmt.Sprintf(format, args...)}
	}
	text, err := json.Marshal(string(r.body)) // as text: no document of it is looked into
	if err != nil {
		return failed(apierr.RemoteNotSent, err, "was not asked: its queries could not be written.")
	}
	out := &chat.Outbound{
		BaseURL: r.remote.URL,
		Grants:  abi.Grants{HTTP: []string{abi.GrantBaseURL}, Secrets: []string{"apiKey"}},
		Request: &abi.EncodeResponse{
			Method: http.MethodPost, URL: r.remote.URL + "/multi-search", Body: abi.RawJSON(text),
			Headers: map[string]string{"Content-Type": "application/json", FederationHeader: "1"},
		},
	}
	if !r.remote.Key.IsZero() {
		out.Secrets = map[string]string{"apiKey": r.remote.Key.Reveal()}
		out.Request.Headers["Authorization"] = "Bearer ${apiKey}"
	}
	resp, err := up.Do(ctx, out)
	switch u, _ := errors.AsType[*chat.UpstreamError](err); {
	case err == nil:
	case ctx.Err() != nil || u != nil && u.Kind == chat.UpstreamTimeout:
		return failed(apierr.RemoteTimeout, err, "did not answer within %v.", limit)
	case u != nil:
		return failed(apierr.RemoteNotSent, err, "was not reached: %s.", u.Message)
	default:
		return failed(apierr.RemoteNotSent, err, "was not reached.")
	}
	defer resp.Close()
	body := resp.Body(maxRemoteAnswer)
	if ctx.Err() != nil {
		return failed(apierr.RemoteTimeout, ctx.Err(), "did not answer within %v.", limit)
	}
	switch status := resp.Status(); {
	case status == http.StatusOK:
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return failed(apierr.RemoteInvalidKey, nil, "refused the key (%d%s): set its `searchApiKey` anew by PATCH /network.", status, remoteCode(body))
	case status >= 400 && status < 500:
		return failed(apierr.RemoteBadRequest, nil, "refused the queries (%d%s).", status, remoteCode(body))
	default:
		return failed(apierr.RemoteFailed, nil, "answered %d%s.", status, remoteCode(body))
	}
	answer, err := readRemote(body, r.queries)
	if err != nil {
		return failed(apierr.RemoteBadResponse, err, "answered what is no result of a federated search: %s.", err)
	}
	return answer, nil
}

// remoteCode is the code of an error's body, to be shown behind a status.
func remoteCode(body []byte) string {
	var e struct{ Code string }
	if json.Unmarshal(body, &e) != nil || e.Code == "" || len(e.Code) > 64 || strings.Trim(e.Code, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return ", " + e.Code
}

// take puts what a remote found among the hits of this host.
func (w *federated) take(r *remoteSearch) error {
	if r.err != nil {
		if w.res.RemoteErrors == nil {
			w.res.RemoteErrors = map[string]*apierr.Error{}
		}
		w.res.RemoteErrors[r.name] = r.err
		w.service.opts.Log(fmt.Sprintf("remote %q did not take part in a search", r.name), r.err)
		return nil
	}
	a := r.answer
	w.res.EstimatedTotalHits += a.EstimatedTotalHits
	w.res.Degraded = w.res.Degraded || a.Degraded
	if a.SemanticHitCount != nil && w.res.SemanticHits == nil {
		w.res.SemanticHits = new(int)
	}
	for _, h := range a.hits {
		h.Remote = r.name
		if o := w.queries[h.Query].Options; o.Position != nil {
			h.Position = *o.Position
		}
		w.hits = append(w.hits, h)
	}
	for _, uid := range slices.Sorted(maps.Keys(a.facets)) {
		for _, c := range a.facets[uid] {
			var values []countedValue
			for _, v := range c.Values {
				values = append(values, countedValue{key: fold(v.Value), shown: v.Value, count: v.Count, most: v.Count})
			}
			if err := w.addFacet(uid, c.Attribute, "", values, c.Min, c.Max, 0); err != nil {
				return inFacets(uid, err)
			}
		}
	}
	return nil
}

// A remoteAnswer is what a remote found.
type remoteAnswer struct {
	EstimatedTotalHits int
	SemanticHitCount   *int
	Degraded           bool
	Hits               []json.RawMessage
	FacetsByIndex      map[string]struct {
		Distribution map[string]json.RawMessage
		Stats        map[string]struct{ Min, Max *float64 }
	}

	hits   []FederatedHit
	facets map[string][]FacetCounts
}

// readRemote reads an answer to queries. An error says what is wrong with it,
// and repeats nothing of it.
func readRemote(body []byte, queries []int) (*remoteAnswer, error) {
	a := &remoteAnswer{facets: map[string][]FacetCounts{}}
	if err := json.Unmarshal(body, a); err != nil || a.Hits == nil {
		return nil, errors.New("it is not JSON of the shape")
	}
	if a.EstimatedTotalHits < 0 {
		return nil, errors.New("it counts fewer than no hits")
	}
	for i, raw := range a.Hits {
		h, err := readRemoteHit(raw)
		if err != nil || !slices.Contains(queries, h.Query) {
			return nil, fmt.Errorf("hit %d does not say which query found it", i)
		}
		a.hits = append(a.hits, h)
	}
	for uid, f := range a.FacetsByIndex {
		for attribute, raw := range f.Distribution {
			c := FacetCounts{Attribute: attribute, Min: f.Stats[attribute].Min, Max: f.Stats[attribute].Max}
			var counts map[string]int
			if json.Unmarshal(raw, &counts) != nil {
				return nil, errors.New("a count of a facet is no number")
			}
			for _, v := range sortedKeys(counts) {
				c.Values = append(c.Values, FacetValue{v, counts[v]})
			}
			a.facets[uid] = append(a.facets[uid], c)
		}
		slices.SortFunc(a.facets[uid], func(x, y FacetCounts) int { return cmp.Compare(x.Attribute, y.Attribute) })
	}
	return a, nil
}

// readRemoteHit takes the member `_federation` out of a hit.
func readRemoteHit(raw []byte) (FederatedHit, error) {
	var h FederatedHit
	if len(raw) == 0 || raw[0] != '{' {
		return h, errors.New("a hit is no object")
	}
	var own []byte
	doc := []byte{'{'}
	eachMember(raw, func(key, v []byte) bool {
		if unquote(key) == "_federation" {
			own = v
			return true
		}
		if len(doc) > 1 {
			doc = append(doc, ',')
		}
		doc = append(append(append(doc, key...), ':'), v...)
		return true
	})
	h.Document = append(doc, '}')
	if own == nil {
		return h, errors.New("a hit without _federation")
	}
	var f struct {
		IndexUID             string
		QueriesPosition      *int
		WeightedRankingScore *float64
		Order                []wireStep
		Distinct             []string
		ByMeaning            bool
	}
	if err := json.Unmarshal(own, &f); err != nil || f.QueriesPosition == nil || f.WeightedRankingScore == nil {
		return h, errors.New("a hit whose _federation lacks something")
	}
	h.IndexUID, h.Query, h.Position, h.WeightedScore = f.IndexUID, *f.QueriesPosition, *f.QueriesPosition, *f.WeightedRankingScore
	h.weight, h.distinct, h.byMeaning = 1, f.Distinct, f.ByMeaning // scores of steps come weighed
	for _, s := range f.Order {
		h.order = append(h.order, s.step())
	}
	return h, nil
}

// A wireStep is an orderStep between two hosts.
type wireStep struct {
	Texts  *float64 `json:"texts,omitempty"` // the score, weighed
	Blank  bool     `json:"blank,omitempty"`
	Kind   string   `json:"kind,omitempty"` // "number", "text", "none", or "hidden": not for clients' eyes
	Number float64  `json:"number,omitempty"`
	Text   string   `json:"text,omitempty"`
	Geo    bool     `json:"geo,omitempty"`
	Down   bool     `json:"down,omitempty"`
}

// Order is what orders h beside the hits of another host, and what makes it
// distinct, as far as clients may see the values; see [FederationHeader].
func (h *FederatedHit) Order() (order, distinct json.RawMessage, byMeaning bool) {
	steps := make([]wireStep, len(h.order))
	for i := range h.order {
		steps[i] = h.order[i].wire(h.weight)
	}
	var err error
	if order, err = json.Marshal(steps); err == nil && !h.hidden {
		distinct, err = json.Marshal(h.distinct)
	}
	if err != nil {
		panic("search: encode the order of a hit: " + err.Error()) // numbers and texts
	}
	return order, distinct, h.byMeaning
}

func (s *orderStep) wire(weight float64) wireStep {
	if s.texts {
		return wireStep{Texts: new(s.score * weight), Blank: s.blank}
	}
	out := wireStep{Geo: s.kind == geoRule, Down: s.down}
	switch {
	case s.hidden:
		out.Kind = "hidden"
	case s.key.kind == 0:
		out.Kind, out.Number = "number", s.key.number
	case s.key.kind == 1:
		out.Kind, out.Text = "text", s.key.text
	default:
		out.Kind = "none"
	}
	return out
}

func (s *wireStep) step() orderStep {
	if s.Texts != nil {
		return orderStep{texts: true, score: *s.Texts, blank: s.Blank}
	}
	out := orderStep{kind: fieldRule, down: s.Down, hidden: s.Kind == "hidden"}
	if s.Geo {
		out.kind = geoRule
	}
	switch s.Kind {
	case "number":
		out.key = sortKey{number: s.Number}
	case "text":
		out.key = sortKey{kind: 1, text: s.Text}
	default:
		out.key = sortKey{kind: 2}
	}
	return out
}
