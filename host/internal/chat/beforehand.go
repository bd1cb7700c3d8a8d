package chat

import (
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A beforehand is the search for a model that has no tools: the host searches for the
// question before it asks, and the prompt has what was found.
type beforehand struct {
	calls   []*call
	results []result
	found   []byte // what the model reads of it, behind the prompt
}

// foundWords begin what was found.
const foundWords = "The documents were searched for the question. Answer from what was found, which follows, and say so where it is not enough:"

// maxQuestion bounds what is searched for, in bytes.
const maxQuestion = 1000

// maxBeforehand bounds how many indexes are searched so.
const maxBeforehand = 8

// searchBeforehand searches for the question, once in an answer.
func (a *Answer) searchBeforehand() error {
	b := a.talk.before
	a.questions[0], a.questions[1] = a.talk.questions()
	question := strings.TrimSpace(a.questions[0])
	if b.calls != nil || question == "" {
		return nil
	}
	if len(question) > maxQuestion {
		question = strings.ToValidUTF8(question[:maxQuestion], "")
	}
	for i, x := range a.talk.indexes[:min(len(a.talk.indexes), maxBeforehand)] {
		arguments := jsonbody.Object{"indexUid": jsonbody.Quote(x.UID), "q": jsonbody.Quote(question)}
		b.calls = append(b.calls, &call{id: fmt.Sprintf("call_%s_%d", randomID(), i), name: searchFunction, arguments: arguments.Append(nil)})
	}
	b.found = []byte(foundWords)
	if err := a.guards.guardSearches(b.calls, nil); err != nil {
		return err
	}
	channels := a.startCalls(b.calls)
	for i := range b.calls {
		select {
		case r := <-channels[i]:
			a.countSearch(r)
			if err := a.numberHits(&r); err != nil {
				return err
			}
			b.results = append(b.results, r)
			b.found = append(append(b.found, '\n'), r.content...)
		case <-a.ctx.Done():
			return a.ctx.Err()
		}
	}
	if a.sink != nil {
		a.tellBeforehand()
	}
	return nil
}

// tellBeforehand gives the sink the search, which may have been made before there
// was one. The client's conversation gets nothing of it: the model knows no calls.
func (a *Answer) tellBeforehand() {
	b := a.talk.before
	if b == nil || b.results == nil {
		return
	}
	reports := a.tools.reports
	a.tools.reports.message = ""
	defer func() { a.tools.reports = reports }()
	a.reportBegin(b.calls)
	a.announceSearches(b.calls)
	for i, r := range b.results {
		if r.search {
			a.tellSearched(&r)
		}
		a.reportEnd(b.calls[i], r, nil)
	}
	b.results = nil
}
