package main

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// An encoder makes the bodies of requests. It holds scratch memory: what it
// returns is good until it is asked again.
type encoder struct {
	chat rawjson.Edit // the request's members
	talk conversation
	body []byte

	model  []byte // the last one's, as the chat has it
	family family
}

// encode returns the body of a round. Members that the API does not know are
// refused by it, so only those named here get through.
func (e *encoder) encode(r *provider.Request) ([]byte, error) {
	e.chat = rawjson.AppendMembers(e.chat[:0], r.Chat)
	chat, talk := e.chat, &e.talk
	model := chat.Get("model")
	f := e.familyOf(model)
	messages := chat.Get("messages")
	talk.reset(len(messages))
	talk.own = hasOwnTools(chat.Get("tools"))
	e.body = slices.Grow(e.body[:0], 2*len(messages))
	if err := talk.read(messages, r); err != nil {
		return nil, err
	}
	format := chat.Get("response_format")
	words := openai.AskForJSON(format)
	schema := format.Path("json_schema", "schema")
	if words != "" && !f.answersByTool() && !(f.constrained() && schema.Kind() == rawjson.Object) {
		talk.system = appendItem(talk.system, append(append(rawjson.Value(`{"type":"text","text":`), rawjson.Quote(words)...), '}'))
	}
	tools, err := toolsOf(chat, f, talk.names)
	if err != nil {
		return nil, err
	}
	if words != "" && f.answersByTool() {
		tools.addAnswer(schema, f)
	}
	limit, limited := limitOf(chat, f)
	think := thinkingOf(chat, f, limit, tools.forced, talk.bare)
	if budget, ok := think.config.Get("budget_tokens").Int(); ok && !limited && budget >= limit {
		limit += budget // the client's own budget, beyond our default
	}

	b := appendHead(e.body[:0], model, limit)
	b = appendList(b, "system", talk.system)
	b = appendList(b, "messages", talk.turns)
	b = appendList(b, "tools", tools.list)
	b = appendMember(b, "tool_choice", tools.choice)
	b = appendMember(b, "thinking", think.config)
	if config := outputConfig(chat, f, think.effort); len(config) > 0 {
		b = appendMember(b, "output_config", config.Value())
	}
	b = appendList(b, "stop_sequences", stopSequences(chat))
	if f.samples() && !think.on() {
		b = appendSampling(b, chat, f)
	}
	e.body = append(appendOwn(b, chat), `,"stream":true}`...)
	return e.body, nil
}

// appendHead appends the begin of a body.
func appendHead(b []byte, model rawjson.Value, limit int64) []byte {
	b = append(b, '{')
	if len(model) > 0 {
		b = append(append(append(b, `"model":`...), model...), ',')
	}
	return strconv.AppendInt(append(b, `"max_tokens":`...), limit, 10)
}

// familyOf returns the family of a model, which is mostly that of the last
// request.
func (e *encoder) familyOf(model rawjson.Value) family {
	if !bytes.Equal(model, e.model) {
		e.model, e.family = append(e.model[:0], model...), familyOf(model.String())
	}
	return e.family
}

// appendOwn passes on members that are the API's own. OpenAI has some of the same
// names with other values.
func appendOwn(b []byte, chat rawjson.Edit) []byte {
	b = appendMember(b, "cache_control", chat.Get("cache_control"))
	b = appendMember(b, "inference_geo", chat.Get("inference_geo"))
	if tier := chat.Get("service_tier"); tier.Is("auto") || tier.Is("standard_only") {
		b = appendMember(b, "service_tier", tier)
	}
	if user := chat.Get("metadata").Get("user_id"); user.Kind() == rawjson.String {
		b = append(append(append(b, `,"metadata":{"user_id":`...), user...), '}')
	}
	return b
}

// appendMember appends a member to an object that has others, unless there is
// nothing to set. It is not inlined, nor is appendList: in a guest what a function
// does costs by its size.
//
//go:noinline
func appendMember(b []byte, name string, v rawjson.Value) []byte {
	if v.IsNull() {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return append(b, v...)
}

// appendList appends a member whose items are joined by commas, unless there is
// none.
//
//go:noinline
func appendList(b []byte, name string, items []byte) []byte {
	if len(items) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":[`...)
	return append(append(b, items...), ']')
}

// setMember sets a member, unless there is nothing to set.
func setMember(body *rawjson.Edit, key string, v rawjson.Value) {
	if !v.IsNull() {
		body.Set(key, v)
	}
}

// wrapArray puts brackets around items that are joined by commas.
func wrapArray(items []byte) rawjson.Value {
	b := append(make([]byte, 0, len(items)+2), '[')
	return append(append(b, items...), ']')
}

// appendItem appends an item to a list without brackets.
func appendItem(items []byte, item rawjson.Value) []byte { return append(appendComma(items), item...) }

// appendComma appends a comma to items that are joined by it, where there are any.
func appendComma(items []byte) []byte {
	if len(items) > 0 {
		items = append(items, ',')
	}
	return items
}

// limitOf returns max_tokens, and whether the request says so.
func limitOf(chat rawjson.Edit, f family) (limit int64, limited bool) {
	for _, name := range [...]string{"max_completion_tokens", "max_tokens"} {
		if n, ok := chat.Get(name).Int(); ok && n > 0 {
			return n, true
		}
	}
	return f.maxTokens(), false
}

// appendSampling passes on what says how to draw the next word. OpenAI's
// temperature goes up to 2 and this API's to 1.
func appendSampling(b []byte, chat rawjson.Edit, f family) []byte {
	temperature := chat.Get("temperature")
	if temperature.Kind() == rawjson.Number {
		if t, err := strconv.ParseFloat(string(temperature), 64); err == nil && t > 1 {
			temperature = rawjson.Value("1")
		}
	}
	b = appendMember(b, "temperature", temperature)
	if temperature.IsNull() || !f.samplesByOne() {
		b = appendMember(b, "top_p", chat.Get("top_p"))
	}
	return appendMember(b, "top_k", chat.Get("top_k"))
}

// outputConfig returns the effort, and the schema that response_format asks
// for, beside what the request's own output_config says.
func outputConfig(chat rawjson.Edit, f family, effort rawjson.Value) rawjson.Edit {
	config := rawjson.EditOf(chat.Get("output_config"))
	if len(config.Get("effort")) == 0 {
		setMember(&config, "effort", effort)
	}
	schema := chat.Get("response_format").Path("json_schema", "schema")
	if schema.Kind() == rawjson.Object && f.constrained() && len(config.Get("format")) == 0 {
		config.Set("format", rawjson.Edit{
			{Key: "type", Value: rawjson.Value(`"json_schema"`)},
			{Key: "schema", Value: openai.StrictSchema(schema)},
		}.Value())
	}
	return config
}

// stopSequences returns the items of stop, one or many. The API refuses those
// that are nothing but space.
func stopSequences(chat rawjson.Edit) []byte {
	return appendStops(appendStops(nil, chat.Get("stop")), chat.Get("stop_sequences"))
}

func appendStops(items []byte, v rawjson.Value) []byte {
	if v.IsNull() {
		return items
	}
	if v.Kind() == rawjson.String {
		v = wrapArray(v)
	}
	for it := v.Items(); it.Next(); {
		if strings.TrimSpace(it.Value.String()) != "" {
			items = appendItem(items, it.Value)
		}
	}
	return items
}
