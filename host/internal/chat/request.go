package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// A Request is what an answer is asked for: the parts of a chat completion, as a parser
// made them of what a client sent, who asks, and what the answer may have. The zero
// value of what is not a part of the question is none. [Service.Start] takes it over.
type Request struct {
	Messages []Item
	Tools    []Item
	// Model is the provider's; empty: the workspace chooses.
	Model string
	// Fields are the other members of the chat completion, such as response_format and
	// max_completion_tokens.
	Fields jsonbody.Object
	// Portable leaves members that only OpenAI knows out of requests to others.
	Portable bool

	// UID is the workspace's that is asked. Workspace, where not nil, is asked in place
	// of the one that is stored.
	UID       string
	Workspace *workspace.Workspace
	// Caller asks, from the address Client, for limits of each client.
	Caller *auth.Caller
	Client netip.Addr
	// Carries are what earlier answers of the conversation left, in any order. Those
	// of other plugins, models and calls are passed over.
	Carries []Carry
	// Seal, where not nil, makes of what a round left a text that the client can send back
	// in its messages, see [Request.TakeSealed].
	Seal func(*Carry) string

	// Indexes narrows what may be searched, as the workspace's indexUids do;
	// nil: it does not. Each must be one that is searched.
	Indexes []string
	// MostHits bounds what one search gives the model, below what the index's own
	// settings allow; 0: nothing else does.
	MostHits int
	// Unnamed lets the request name no model.
	Unnamed bool

	// ShownModel is the model's name in the answer; empty: what the provider says.
	ShownModel string
	// Usage counts tokens in the answer also where Fields do not ask for it. Estimate
	// counts them by bytes where the provider does not.
	Usage, Estimate bool
	// Cite names the places that the answer rests on, CiteReports where the client
	// asks for reports of what was found. Base is the URL of this host, for links to
	// documents that have none of their own.
	Cite, CiteReports bool
	Base              string
	// Limited, where not nil, is called in Start with what is left of the limits that
	// hold for the answer, also where one of them refuses it.
	Limited func(limit.State)
}

// An Item is a message or a tool of a request.
type Item struct {
	JSON json.RawMessage // as a chat completion has it
	// At is what the client calls a message, or the name of a tool's function, for
	// errors; empty: as a chat completion does, such as messages[0].
	At string
}

// AddMessage adds a message that the client calls at.
func (q *Request) AddMessage(at string, m jsonbody.Object) {
	q.Messages = append(q.Messages, Item{m.Append(nil), at})
}

// AddQuestion adds a message of the user's.
func (q *Request) AddQuestion(text string) {
	q.AddMessage("", jsonbody.Object{"role": jsonbody.Quote("user"), "content": jsonbody.Quote(text)})
}

// messageAt is what the client calls a message.
func (q *Request) messageAt(i int) string {
	if at := q.Messages[i].At; at != "" {
		return at
	}
	return fmt.Sprintf("messages[%d]", i)
}

// Size is how many bytes the request has as a chat completion without white space.
func (q *Request) Size() int {
	n := len("{")
	add := func(name string, bytes int) { n += len(name) + len(`"":,`) + bytes }
	for name, v := range q.Fields {
		add(name, len(v))
	}
	if q.Model != "" {
		add("model", len(q.Model)+len(`""`))
	}
	add("messages", sizeOf(q.Messages))
	if len(q.Tools) > 0 {
		add("tools", sizeOf(q.Tools))
	}
	return n
}

// Parts are the request's messages and tools.
func (q *Request) Parts() [][]byte {
	parts := make([][]byte, 0, len(q.Messages)+len(q.Tools))
	for _, items := range [][]Item{q.Messages, q.Tools} {
		for i := range items {
			parts = append(parts, items[i].JSON)
		}
	}
	return parts
}

func sizeOf(items []Item) int {
	n := len("[")
	for i := range items {
		n += len(items[i].JSON) + len(",")
	}
	return n
}

// clone returns a copy that rules of a workspace may change.
func (q *Request) clone() *Request {
	c := *q
	c.Messages, c.Fields = slices.Clone(q.Messages), maps.Clone(q.Fields)
	return &c
}

// ParseRequest reads the body of a chat completion. Its values are parts of the body.
// What it leaves unchecked [Service.Start] checks.
func ParseRequest(body []byte) (*Request, error) {
	fields, err := jsonbody.Parse(body)
	if err != nil {
		return nil, err
	}
	if err := jsonbody.CheckNames("", body, guardedFields...); err != nil {
		return nil, err
	}
	q := &Request{Fields: fields}
	// One that is missing may be the workspace's to name, see [request.chooseModel].
	if v := fields["model"]; !rawjson.IsAbsent(v) {
		var ok bool
		if q.Model, ok = rawjson.String(v); !ok {
			return nil, jsonbody.WrongType(apierr.BadRequest, "model", "a string", v)
		}
		if q.Model == "" {
			return nil, badField("model", "`model` is empty: name the provider's model to ask.")
		}
	}
	if rawjson.IsAbsent(fields["messages"]) {
		return nil, badField("messages", "`messages` is missing: send the conversation, the question last.")
	}
	if q.Messages, err = parseItems("messages", "an array of messages", fields["messages"]); err != nil {
		return nil, err
	}
	if q.Tools, err = parseItems("tools", "an array of tools", fields["tools"]); err != nil {
		return nil, err
	}
	if err := checkStream(fields["stream"]); err != nil {
		return nil, err
	}
	if err := checkN(fields["n"]); err != nil {
		return nil, err
	}
	q.dropParts()
	return q, nil
}

// SplitFields makes a request of the members of a chat completion whose messages and
// tools are arrays, or absent.
func SplitFields(fields jsonbody.Object) *Request {
	q := &Request{Fields: fields}
	q.Messages, _ = parseItems("messages", "", fields["messages"])
	q.Tools, _ = parseItems("tools", "", fields["tools"])
	q.dropParts()
	return q
}

// dropParts leaves in Fields what has no field of its own.
func (q *Request) dropParts() {
	for _, name := range []string{"model", "messages", "tools", "stream"} {
		delete(q.Fields, name)
	}
}

// parseItems reads an array, which may be absent.
func parseItems(name, want string, v json.RawMessage) ([]Item, error) {
	if rawjson.IsAbsent(v) {
		return nil, nil
	}
	if bytes.TrimSpace(v)[0] != '[' {
		return nil, jsonbody.WrongType(apierr.BadRequest, name, want, v)
	}
	var items []Item
	rawjson.EachElement(v, func(v []byte) bool {
		items = append(items, Item{JSON: v})
		return true
	})
	return items, nil
}

// A request is a [Request] for one workspace: checked, and as its rules leave it.
type request struct {
	asked      *Request
	size       int             // bytes, as it was asked
	fields     jsonbody.Object // all but messages and tools
	messages   []Item
	offered    []json.RawMessage // tools for the model
	askedTools bool              // it had tools at all
	tools      tools             // holds no part of what the client sent
	model      string            // nor does this
	usage      bool              // stream_options.include_usage
	parts      []part            // of its messages that are more than text
}

var roles = []string{"system", "user", "assistant", "developer", "tool"}

// check returns the request, in the contract's order of checks. Parameters of the
// workspace are not in it yet, see [request.applyRules].
func (q *Request) check() (*request, error) {
	r := &request{asked: q, size: q.Size(), fields: q.Fields, messages: q.Messages, model: q.Model}
	if r.fields == nil {
		r.fields = jsonbody.Object{}
	}
	for _, name := range jsonbody.SortedKeys(r.fields) {
		for _, known := range guardedFields {
			if name != known && strings.EqualFold(name, known) {
				return nil, jsonbody.UnknownField(name, known)
			}
		}
	}
	if len(q.Messages) == 0 {
		return nil, badField("messages", "`messages` is empty: send the conversation, the question last.")
	}
	for i := range q.Messages {
		parts, err := checkMessage(messagePlace{q, i}, q.Messages[i].JSON)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			p.message = i
			r.parts = append(r.parts, p)
		}
	}
	return r, r.parseTools()
}

// chooseModel fills in the model of a workspace, and checks that it allows the one
// that is asked for. unnamed: the request may do without.
func (r *request) chooseModel(w *workspace.Workspace, unnamed bool) error {
	if r.model = cmp.Or(r.model, w.DefaultModel); r.model != "" {
		r.fields["model"] = jsonbody.Quote(r.model)
	}
	switch {
	case r.model == "" && unnamed:
		return nil
	case r.model == "":
		return badField("model", "`model` is missing: name the provider's model to ask, or set `defaultModel` with PATCH /chats/%s/settings.", w.UID)
	case !w.AllowsModel(r.model):
		return &apierr.Error{Code: chaterr.InvalidChatModel, Param: "model", Message: fmt.Sprintf("Workspace %s does not allow `model` %q: it allows %s.", w.UID, jsonbody.Cut(r.model, 64), strings.Join(w.Models, ", "))}
	}
	return nil
}
