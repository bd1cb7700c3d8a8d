package chat

import (
	"bytes"
	"encoding/json"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// SealedMark begins what [Request.Seal] returns.
const SealedMark = "parley."

// sealedDetails is c, sealed, in the form in which clients send encrypted reasoning back
// with a message: a list of reasoning_details; nil where plugin and guards want nothing back.
func (a *Answer) sealedDetails(c *Carry) json.RawMessage {
	if a.asked.Seal == nil || len(c.Bytes) == 0 && len(c.Guards) == 0 {
		return nil
	}
	kept := *c
	kept.Message = nil // the client has it
	o := jsonbody.Object{"type": jsonbody.Quote("reasoning.encrypted"), "data": jsonbody.Quote(a.asked.Seal(&kept)), "format": jsonbody.Quote("parley")}
	return rawjson.Array([]json.RawMessage{o.Append(nil)})
}

// reportSealed reports the assistant's message of a round that searched. What is sealed of
// it is put in behind the guards: it is ours, and not a text.
func (a *Answer) reportSealed(name string, message []byte, calls []*call) {
	out := a.sink
	if s, ok := out.(*guardedSink); ok {
		out = s.Sink
		if message = s.report(message); message == nil {
			return
		}
	}
	out.Report(name, a.sealMessage(message, calls))
}

// sealMessage is the assistant's message of a round that searched, with what was carried
// of it for the client to send back.
func (a *Answer) sealMessage(message []byte, calls []*call) []byte {
	c := Carry{By: by(a.manifest, a.model), Bytes: a.round.carry}
	for _, k := range calls {
		c.Calls = append(c.Calls, k.id)
	}
	details := a.sealedDetails(&c)
	if details == nil {
		return message
	}
	m, _ := jsonbody.ObjectIn(message)
	if own, ok := rawjson.Items(m["reasoning_details"]); ok {
		ours, _ := rawjson.Items(details)
		details = rawjson.Array(append(own, ours...))
	}
	m["reasoning_details"] = details
	return m.Append(nil)
}

// TakeSealed takes what Seal returned for earlier answers out of the messages.
func (q *Request) TakeSealed() (sealed []string) {
	for i := range q.Messages {
		if !bytes.Contains(q.Messages[i].JSON, []byte(`"`+SealedMark)) {
			continue
		}
		m, _ := jsonbody.ObjectIn(q.Messages[i].JSON)
		details, _ := rawjson.Items(m["reasoning_details"])
		var others []json.RawMessage
		for _, v := range details {
			d, _ := jsonbody.ObjectIn(v)
			if text := d.Text("data"); d.Text("format") == "parley" {
				sealed = append(sealed, text)
			} else {
				others = append(others, v)
			}
		}
		switch {
		case len(others) == len(details):
			continue
		case len(others) == 0:
			delete(m, "reasoning_details")
		default:
			m["reasoning_details"] = rawjson.Array(others)
		}
		q.Messages[i].JSON = m.Append(nil)
	}
	return sealed
}
