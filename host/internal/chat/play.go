package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// maxRoundCalls bounds the tool calls of one round, the client's included.
const maxRoundCalls = 256

// playRecords gives the sink what records say, and keeps what the round's end needs. A
// failure that the provider reports among them is the error.
func (a *Answer) playRecords(records []byte) error {
	for {
		r, rest, ok, err := abi.NextRecord(records)
		if err == nil && ok {
			var extra []byte
			extra, rest = extraBehind(r.Kind, rest)
			err = a.playRecord(r, extra)
		}
		if errors.Is(err, abi.ErrMalformed) {
			return a.pluginError(fmt.Errorf("read record: %w", err))
		}
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		records = rest
	}
	return nil
}

// extraBehind cuts off an extra record that follows one with a delta of its
// own, to go out in the same chunk.
//
// Behind the start of a tool call it is what the call has beside its own members,
// see [response.CallMembers].
func extraBehind(k abi.RecordKind, rest []byte) (extra, after []byte) {
	if k != abi.RecordText && k != abi.RecordReasoning && k != abi.RecordRefusal && k != abi.RecordToolStart {
		return nil, rest
	}
	next, after, ok, err := abi.NextRecord(rest)
	if err != nil || !ok || next.Kind != abi.RecordExtra || !checkExtra(next.Payload) {
		return nil, rest
	}
	if k != abi.RecordToolStart {
		return next.Payload, after
	}
	if index, members, ok := response.CallMembers(next.Payload); ok && index < 0 {
		return members, after
	}
	return nil, rest
}

func (a *Answer) playRecord(r abi.Record, extra []byte) error {
	rd := &a.round
	switch r.Kind {
	case abi.RecordText:
		if len(rd.text)+len(r.Payload) <= maxRoundText {
			rd.text = append(rd.text, r.Payload...)
		}
		if !a.waitsForFormat() {
			a.rememberText(r.Payload)
			a.noteSpoken()
		}
		a.scrubText(Content, r.Payload, extra)
	case abi.RecordReasoning:
		a.scrubText(Reasoning, r.Payload, extra)
	case abi.RecordRefusal:
		a.noteSpoken()
		a.scrubText(Refusal, r.Payload, extra)
	case abi.RecordToolStart:
		return a.toolStart(r, extra)
	case abi.RecordToolArguments:
		return a.toolArguments(r)
	case abi.RecordFinish:
		rd.finish = a.hidden.secrets.Text(string(r.Payload))
		if rd.finish == "" {
			rd.finish = "stop"
		}
	case abi.RecordUsage:
		u, members, err := r.Usage()
		if err != nil {
			return err
		}
		rd.usage, rd.hasUsage = u, true
		if checkExtra(members) && !a.hidden.isIn(members) {
			rd.counted = slices.Clone(members)
		}
	case abi.RecordError:
		return a.reportedError(r.Payload)
	case abi.RecordResponse:
		_, model, err := r.Response()
		if err != nil {
			return err
		}
		if a.asked.ShownModel != "" && len(model) > 0 {
			model = []byte(a.asked.ShownModel)
		}
		a.sink.Responding([]byte(a.hidden.secrets.Text(string(model))))
	case abi.RecordCarry:
		if len(rd.carry)+len(r.Payload) > abi.MaxCarry {
			return fmt.Errorf("carry of more than %d bytes: %w", abi.MaxCarry, abi.ErrMalformed)
		}
		rd.carry = append(rd.carry, r.Payload...)
	case abi.RecordAgain:
		return errAgain
	case abi.RecordOuter:
		if !checkExtra(r.Payload) {
			return fmt.Errorf("outer members that are not a JSON object: %w", abi.ErrMalformed)
		}
		if !a.hidden.isIn(r.Payload) {
			a.sink.Outer(r.Payload)
		}
	case abi.RecordExtra:
		if !checkExtra(r.Payload) {
			return fmt.Errorf("extra that is not a JSON object: %w", abi.ErrMalformed)
		}
		if index, members, ok := response.CallMembers(r.Payload); ok {
			a.callMembers(index, members)
		} else if !a.hidden.isIn(r.Payload) {
			rd.said.Add(r)
			a.sink.Extra(r.Payload)
		}
	}
	return nil
}

// callMembers takes members of the call at index that come behind its start.
func (a *Answer) callMembers(index int, members []byte) {
	if index < 0 || index >= len(a.round.calls) || len(members) == 0 || a.hidden.isIn(members) {
		return
	}
	c := &a.round.calls[index]
	c.members = response.JoinMembers(c.members, members)
	if c.client {
		a.sink.ToolExtra(c.index, members)
	}
}

// cites reports whether the sink gets what the answer rests on.
func (a *Answer) cites() bool {
	return a.asked.Cite || a.asked.CiteReports && a.tools.reports.sources != ""
}

// rememberText keeps a piece of the answer's text, unless guards see it first.
func (a *Answer) rememberText(text []byte) {
	if a.guards == nil {
		a.keepSaid(text)
	}
}

// keepSaid keeps the hash of a piece of the answer's text, and the text where citations
// are looked for in it.
func (a *Answer) keepSaid(text []byte) {
	a.hash, a.round.hash = hashText(a.hash, text), hashText(a.round.hash, text)
	if a.cites() && len(a.said)+len(text) <= maxRoundText {
		a.said = append(a.said, text...)
	}
}

// noteSpoken notes that the sink is given a part of the answer: no other workspace can
// take it over any more.
func (a *Answer) noteSpoken() { a.spoke, a.standIn = true, standIn{} }

// scrubText passes a piece of text on, unless it is empty.
func (a *Answer) scrubText(kind Kind, text, extra []byte) {
	a.heard += len(text)
	text = a.hidden.texts[kind].Next(text)
	if a.hidden.isIn(extra) {
		extra = nil
	}
	if extra != nil {
		a.round.said.Add(abi.Record{Kind: abi.RecordExtra, Payload: extra})
	}
	switch {
	case len(text) > 0:
		a.passOnText(kind, text, extra)
	case extra != nil:
		a.sink.Extra(extra)
	}
}

// passOnText passes on a text that is not empty.
func (a *Answer) passOnText(kind Kind, text, extra []byte) {
	if kind == Content && a.waitsForFormat() {
		a.round.held = append(a.round.held, text...)
		return
	}
	if kind == Content && a.outcome.FirstWord.IsZero() {
		a.outcome.FirstWord = a.deps.Now()
	}
	switch kind { // without the key: reports show it
	case Reasoning:
		a.round.said.Add(abi.Record{Kind: abi.RecordReasoning, Payload: text})
	case Refusal:
		a.round.said.Add(abi.Record{Kind: abi.RecordRefusal, Payload: text})
	}
	a.sink.Text(kind, text, extra)
}

// endTexts passes on what was held of the texts and arguments of a round that is
// over.
func (a *Answer) endTexts() {
	for i := range a.hidden.texts {
		if rest := a.hidden.texts[i].End(); rest != nil {
			a.passOnText(Kind(i), rest, nil)
		}
	}
	for i := range a.round.calls {
		c := &a.round.calls[i]
		a.addArguments(c, c.scrub.End())
	}
}

// toolStart opens a call. One of a function that the client did not bring is
// ours: either the search, or a name that the model made up and must be told
// so.
func (a *Answer) toolStart(r abi.Record, extra []byte) error {
	index, id, name, err := r.ToolStart()
	if err != nil {
		return err
	}
	rd := &a.round
	if int(index) != len(rd.calls) || index >= maxRoundCalls {
		return fmt.Errorf("tool call %d after %d calls: %w", index, len(rd.calls), abi.ErrMalformed)
	}
	c := call{
		id: a.hidden.secrets.Text(string(id)), name: a.hidden.secrets.Text(string(name)), scrub: a.hidden.secrets.Stream(),
		client: a.tools.every || a.tools.names[string(name)],
	}
	if c.id == "" {
		c.id = "call_" + randomID()
	}
	if a.hidden.isIn(extra) {
		extra = nil
	}
	c.members = extra
	if c.client {
		a.noteSpoken()
		c.index = a.clients
		a.clients++
		a.sink.ToolStart(c.id, c.name, extra)
	}
	rd.calls = append(rd.calls, c)
	return nil
}

func (a *Answer) toolArguments(r abi.Record) error {
	index, piece, err := r.ToolArguments()
	if err != nil {
		return err
	}
	if int64(index) >= int64(len(a.round.calls)) {
		return fmt.Errorf("arguments of tool call %d before its start: %w", index, abi.ErrMalformed)
	}
	a.heard += len(piece)
	c := &a.round.calls[index]
	a.addArguments(c, c.scrub.Next(piece))
	return nil
}

// addArguments passes on what may be shown of a call's arguments. What the host
// answers by itself is shown to the client as well, in reports.
func (a *Answer) addArguments(c *call, piece []byte) {
	switch {
	case len(piece) == 0:
	case c.client:
		a.sink.ToolArguments(c.index, piece)
	case len(c.arguments)+len(piece) > a.deps.Limits.ArgumentsBytes:
		c.tooLong = true
	default:
		c.arguments = append(c.arguments, piece...)
	}
}

// peekFailure returns the failure that the provider reports in records, where it
// stands before anything that the client would see; shows reports whether there is such.
func (a *Answer) peekFailure(records []byte) (shows bool, failure error) {
	for {
		r, rest, ok, err := abi.NextRecord(records)
		if err != nil || !ok {
			return err != nil, nil // playRecords has the error
		}
		switch r.Kind {
		case abi.RecordError:
			return false, a.reportedError(r.Payload)
		case abi.RecordAgain:
			return false, a.pluginError(errAgain)
		case abi.RecordResponse, abi.RecordUsage, abi.RecordCarry, abi.RecordOuter, abi.RecordPattern:
		default:
			return true, nil
		}
		records = rest
	}
}

// reportedError is the error for a failure that came as a record.
func (a *Answer) reportedError(payload []byte) error {
	var p abi.ProviderError
	if err := json.Unmarshal(payload, &p); err != nil {
		return a.pluginError(fmt.Errorf("read error record: %w", err))
	}
	return a.providerError(&p, 0, 0, nil)
}

// checkExtra reports whether b can be merged into a delta.
func checkExtra(b []byte) bool {
	t := bytes.TrimSpace(b)
	return len(t) >= 2 && t[0] == '{' && utf8.Valid(t) && rawjson.Valid(t)
}
