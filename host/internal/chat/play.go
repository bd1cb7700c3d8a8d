package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/secret"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// maxRoundCalls bounds the tool calls of one round, the client's included.
const maxRoundCalls = 256

// play renders records and keeps what the round's end needs. A failure that
// the provider reports among them is the error; what stands before it was
// rendered.
func (a *Answer) play(records []byte) error {
	for {
		r, rest, ok, err := abi.NextRecord(records)
		if err == nil && ok {
			var extra []byte
			extra, rest = extraBehind(r.Kind, rest)
			err = a.record(r, extra)
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
// Behind the start of a tool call it is the call that the extra adds to, where
// it says so: {"tool_calls":[{…}]}. What it says of a call of ours is nobody's.
func extraBehind(k abi.RecordKind, rest []byte) (extra, after []byte) {
	if k != abi.RecordText && k != abi.RecordReasoning && k != abi.RecordRefusal && k != abi.RecordToolStart {
		return nil, rest
	}
	next, after, ok, err := abi.NextRecord(rest)
	if err != nil || !ok || next.Kind != abi.RecordExtra || !checkExtra(next.Payload) {
		return nil, rest
	}
	extra = next.Payload
	if k == abi.RecordToolStart {
		if extra = callExtra(extra); extra == nil {
			return nil, rest
		}
	}
	return extra, after
}

// callExtra returns the object that a checked extra adds to a tool call, nil
// where it adds none.
func callExtra(extra []byte) []byte {
	o, _ := jsonbody.ObjectOf(extra)
	items, _ := jsonbody.ArrayOf(o["tool_calls"])
	if len(o) != 1 || len(items) != 1 || !checkExtra(items[0]) {
		return nil
	}
	return items[0]
}

func (a *Answer) record(r abi.Record, extra []byte) error {
	rd := &a.round
	switch r.Kind {
	case abi.RecordText:
		if len(rd.text)+len(r.Payload) <= maxRoundText {
			rd.text = append(rd.text, r.Payload...)
		}
		if a.options.Citations != "" && len(a.said)+len(r.Payload) <= maxRoundText {
			a.said = append(a.said, r.Payload...)
		}
		a.spoke = true
		a.text(fieldContent, r.Payload, extra)
	case abi.RecordReasoning:
		a.text(fieldReasoning, r.Payload, extra)
	case abi.RecordRefusal:
		a.text(fieldRefusal, r.Payload, extra)
	case abi.RecordToolStart:
		return a.toolStart(r, extra)
	case abi.RecordToolArguments:
		return a.toolArguments(r)
	case abi.RecordFinish:
		rd.finish = a.noKey.Text(string(r.Payload))
		if rd.finish == "" {
			rd.finish = "stop"
		}
	case abi.RecordUsage:
		u, err := r.Usage()
		if err != nil {
			return err
		}
		rd.usage, rd.hasUsage = u, true
	case abi.RecordError:
		return a.reported(r.Payload)
	case abi.RecordResponse:
		_, model, err := r.Response()
		if err != nil {
			return err
		}
		if a.options.Model != "" && len(model) > 0 {
			model = []byte(a.options.Model)
		}
		a.render.name([]byte(a.noKey.Text(string(model))))
		a.render.greet()
	case abi.RecordCarry:
		if len(rd.carry)+len(r.Payload) > abi.MaxCarry {
			return fmt.Errorf("carry of more than %d bytes: %w", abi.MaxCarry, abi.ErrMalformed)
		}
		rd.carry = append(rd.carry, r.Payload...)
	case abi.RecordOuter:
		if !checkExtra(r.Payload) {
			return fmt.Errorf("outer members that are not a JSON object: %w", abi.ErrMalformed)
		}
		if !a.members.holds(a.noKey, r.Payload) {
			a.render.outer(r.Payload)
		}
	case abi.RecordExtra:
		if !checkExtra(r.Payload) {
			return fmt.Errorf("extra that is not a JSON object: %w", abi.ErrMalformed)
		}
		if !a.members.holds(a.noKey, r.Payload) {
			a.render.extra(r.Payload)
		}
	}
	return nil
}

// text renders a piece of text; an empty one is worth no chunk.
func (a *Answer) text(field string, text, extra []byte) {
	a.heard += len(text)
	text = a.scrubOf(field).Next(text)
	if a.members.holds(a.noKey, extra) {
		extra = nil
	}
	switch {
	case len(text) > 0:
		a.say(field, text, extra)
	case extra != nil:
		a.render.extra(extra)
	}
}

// say writes a text that is not empty.
func (a *Answer) say(field string, text, extra []byte) {
	if field == fieldContent && a.outcome.FirstWord.IsZero() {
		a.outcome.FirstWord = a.deps.Now()
	}
	a.render.text(field, text, extra)
}

// answerTexts are what a text may be of, in the order of [Answer.texts].
var answerTexts = [...]string{fieldContent, fieldReasoning, fieldRefusal}

// scrubOf is what takes the key out of a field's text.
func (a *Answer) scrubOf(field string) *secret.Stream {
	return &a.texts[slices.Index(answerTexts[:], field)]
}

// endTexts says what was held of the texts and arguments of a round that is
// over.
func (a *Answer) endTexts() {
	for i := range a.texts {
		if rest := a.texts[i].End(); rest != nil {
			a.say(answerTexts[i], rest, nil)
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
		id: a.noKey.Text(string(id)), name: a.noKey.Text(string(name)), scrub: a.noKey.Stream(),
		client: a.tools.every || a.tools.names[string(name)],
	}
	if c.id == "" {
		c.id = "call_" + randomID()
	}
	if c.client {
		c.index = a.render.nextCall()
		if a.members.holds(a.noKey, extra) {
			extra = nil
		}
		a.render.toolStart(c.index, c.id, c.name, extra)
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
		a.render.toolArguments(c.index, piece)
	case len(c.arguments)+len(piece) > a.deps.Limits.ArgumentsBytes:
		c.tooLong = true
	default:
		c.arguments = append(c.arguments, piece...)
	}
}

// peek returns the failure that the provider reports in records, where it
// stands before anything that the client would see.
func (a *Answer) peek(records []byte) error {
	for {
		r, rest, ok, err := abi.NextRecord(records)
		if err != nil || !ok {
			return nil // play says so
		}
		switch r.Kind {
		case abi.RecordError:
			return a.reported(r.Payload)
		case abi.RecordResponse, abi.RecordUsage, abi.RecordCarry, abi.RecordOuter, abi.RecordPattern:
		default:
			return nil
		}
		records = rest
	}
}

// reported is the error for a failure that came as a record.
func (a *Answer) reported(payload []byte) error {
	var p abi.ProviderError
	if err := json.Unmarshal(payload, &p); err != nil {
		return a.pluginError(fmt.Errorf("read error record: %w", err))
	}
	return a.providerError(&p, 0, 0, nil)
}
