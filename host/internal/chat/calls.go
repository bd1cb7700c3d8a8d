package chat

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A result is what came of one internal call.
type result struct {
	content []byte // the tool message's text for the model
	sources []byte // the documents found, as a JSON array
	search  bool   // an index was searched
	index   string // which
	query   string
	found   Found
	failed  bool
	empty   bool // nothing was found
	took    time.Duration
	err     error // a failure of ours
}

// answerCalls runs the model's calls of one round, reports them to the client
// as it asked for, in the order of their indexes, and adds them to the
// conversation.
func (a *Answer) answerCalls(calls []*call) error {
	assistant := assistantMessage(a.round.text, &a.round.said, calls)
	a.talk.addMessage(assistant)
	a.talk.renameReasoning(a.deps.lacksOf(a.link, a.model, a.asked.Caller))
	a.carry.calls = append(a.carry.calls, base64.StdEncoding.EncodeToString(a.round.carry))
	a.reportBegin(calls)
	if err := a.flushSink(); err != nil {
		return err
	}
	a.announceSearches(calls)
	a.questions[0], a.questions[1] = a.talk.questions()
	if err := a.guards.guardSearches(calls, a.questions[:]); err != nil {
		return err
	}
	results := a.startCalls(calls)
	for i, c := range calls {
		var r result
		select {
		case r = <-results[i]:
		case <-a.ctx.Done():
		}
		if err := a.ctx.Err(); err != nil {
			return err
		}
		a.countSearch(r)
		if err := a.noteSearch(&r); err != nil {
			return err
		}
		message := toolMessage(c.id, r.content)
		a.talk.addMessage(message)
		a.reportEnd(c, r, message)
		if err := a.flushSink(); err != nil {
			return err
		}
	}
	return nil
}

// announceSearches gives the sink what will be searched.
func (a *Answer) announceSearches(calls []*call) {
	if len(a.talk.indexes) == 0 {
		return
	}
	for _, c := range calls {
		if args, problem := parseArguments(c.arguments); problem == "" && c.name == searchFunction {
			a.sink.Searching(cmp.Or(args.indexUID, a.talk.indexes[0].UID), args.q)
		}
	}
}

// noteSearch numbers the hits of a search, and gives the sink them.
func (a *Answer) noteSearch(r *result) error {
	if err := a.numberHits(r); err != nil || !r.search {
		return err
	}
	a.tellSearched(r)
	return a.guards.blockError()
}

// tellSearched gives the sink a search that has ended.
func (a *Answer) tellSearched(r *result) {
	a.sink.Searched(&Searched{Index: r.index, Query: r.query, Hits: r.found.Hits})
}

// numberHits gives the hits of a search that the guards let pass their numbers, and makes
// the texts of the result.
func (a *Answer) numberHits(r *result) (err error) {
	if err = a.guards.guardResult(r); err != nil {
		return err
	}
	a.found = addCitable(a.found, a.asked.Base, r.index, r.found.Hits)
	if !r.failed {
		r.content, r.sources = hitsContent(r.index, r.found), documents(r.found)
	}
	return nil
}

func (a *Answer) countSearch(r result) {
	if r.search {
		a.outcome.Searches++
		a.outcome.SearchTime += r.took
		switch {
		case r.failed:
			a.outcome.FailedSearches++
		case r.empty:
			a.outcome.EmptySearches++
		}
	}
	if a.outcome.SearchErr == nil {
		a.outcome.SearchErr = r.err
	}
}

// startCalls runs calls, some at a time. Each result comes in a channel of its
// own, with room for it: no goroutine outlives its search.
func (a *Answer) startCalls(calls []*call) []chan result {
	results := make([]chan result, len(calls))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	var next atomic.Int64
	for range min(a.deps.Limits.Parallel, len(calls)) {
		go func() {
			for a.ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(calls) {
					return
				}
				results[i] <- a.answerCall(calls[i], i)
			}
		}()
	}
	return results
}

// answerCall answers one call, the n'th of its round. It never fails: what
// went wrong is the answer, for the model to read.
func (a *Answer) answerCall(c *call, n int) (r result) {
	defer func() {
		// This goroutine is the answer's own: nobody else keeps a fault of the
		// search from ending the process.
		if p := recover(); p != nil {
			r = searchFailure(fmt.Errorf("search panicked: %v\n%s", p, debug.Stack()))
		}
	}()
	switch {
	case c.name != searchFunction || len(a.talk.indexes) == 0 || a.round.last:
		return refusal("There is no function %q to call.", jsonbody.Cut(c.name, 64))
	case n >= a.deps.Limits.Calls:
		return refusal("More than %d searches in one turn are not run: ask for fewer.", a.deps.Limits.Calls)
	case c.tooLong:
		return refusal("The arguments are longer than %d bytes: shorten them.", a.deps.Limits.ArgumentsBytes)
	}
	arguments := c.arguments
	if c.searched != nil {
		arguments = c.searched
	}
	args, problem := parseArguments(arguments)
	if problem != "" {
		return refusal("%s", problem)
	}
	if args.indexUID == "" {
		if len(a.talk.indexes) > 1 {
			return refusal("The argument indexUid is missing. The indexes are: %s.", a.indexNames())
		}
		args.indexUID = a.talk.indexes[0].UID
	}
	if !slices.ContainsFunc(a.talk.indexes, func(x Index) bool { return x.UID == args.indexUID }) {
		return refusal("There is no index %q. The indexes are: %s.", jsonbody.Cut(args.indexUID, 64), a.indexNames())
	}
	_, step := a.deps.step(a.ctx, stepSearch)
	began := a.deps.Now()
	q, changed := withSubject(args.q, a.questions[0], a.questions[1])
	found, err := a.deps.Searcher.ChatSearch(a.ctx, a.asked.Caller, args.indexUID, q, args.filter)
	if changed {
		found.Query = q
	}
	if most := a.asked.MostHits; most > 0 && len(found.Hits) > most {
		found.Hits = found.Hits[:most]
	}
	step.Number("hits", len(found.Hits))
	step.End(err)
	if err != nil {
		r = searchFailure(err)
	} else {
		r = result{found: found, search: true, empty: len(found.Hits) == 0}
	}
	r.index, r.query, r.took = args.indexUID, q, a.deps.Now().Sub(began)
	return r
}

func (a *Answer) indexNames() string {
	names := make([]string, len(a.talk.indexes))
	for i, x := range a.talk.indexes {
		names[i] = x.UID
	}
	return strings.Join(names, ", ")
}

// refusal is the answer to a call that was not run.
func refusal(format string, args ...any) result {
	text := jsonbody.Object{"error": jsonbody.Quote(fmt.Sprintf(format, args...))}.Append(nil)
	return result{content: text, sources: []byte("[]"), failed: true}
}

// searchFailure has for the model what it can mend, and no more than that
// something failed of what it cannot.
func searchFailure(err error) result {
	r := refusal("The search failed; it is not your arguments. Answer without it, or try once more.")
	if e := apierr.From(err); e.Code != apierr.Internal {
		r = refusal("%s", e.Message)
	} else {
		r.err = err
	}
	r.search = true
	return r
}

type searchArguments struct{ indexUID, q, filter string }

// parseArguments reads a call's arguments; problem, where not empty, is what
// the model should know. All may be left out.
func parseArguments(b []byte) (args searchArguments, problem string) {
	if !json.Valid(b) {
		return args, "The arguments are not JSON: send an object with indexUid, q and filter."
	}
	o, ok := jsonbody.ObjectOf(b)
	if !ok {
		return args, "The arguments must be an object with indexUid, q and filter, not " + rawjson.KindOf(b) + "."
	}
	for _, f := range []struct {
		name string
		to   *string
	}{{"indexUid", &args.indexUID}, {"q", &args.q}, {"filter", &args.filter}} {
		v := o[f.name]
		if v == nil || rawjson.IsNull(v) {
			continue
		}
		if *f.to, ok = rawjson.String(v); !ok {
			return args, fmt.Sprintf("The argument %s must be a string, not %s.", f.name, rawjson.KindOf(v))
		}
	}
	if f := strings.TrimSpace(args.filter); f == "null" || f == "none" || f == "None" {
		args.filter = "" // what models write for nothing
	}
	return args, ""
}
