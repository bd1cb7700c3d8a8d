package main

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// bodyOf returns the body of a round. Members that the API does not know are
// refused by it, so only those named here get through.
func bodyOf(r *provider.Request) (rawjson.Value, error) {
	chat := rawjson.EditOf(r.Chat)
	f := familyOf(chat.Get("model").String())
	talk, err := conversationOf(chat.Get("messages"), r.Carry)
	if err != nil {
		return nil, err
	}
	tools, err := toolsOf(chat, f, talk.names)
	if err != nil {
		return nil, err
	}
	limit, limited := limitOf(chat, f)
	think := thinkingOf(chat, f, limit, tools.forced, talk.bare)
	if budget, ok := think.config.Get("budget_tokens").Int(); ok && !limited && budget >= limit {
		limit += budget // the client's own budget, beyond our default
	}

	var body rawjson.Edit
	body.Set("model", chat.Get("model"))
	body.Set("max_tokens", strconv.AppendInt(nil, limit, 10))
	if len(talk.system) > 0 {
		body.Set("system", list(talk.system))
	}
	body.Set("messages", list(talk.turns))
	if len(tools.list) > 0 {
		body.Set("tools", list(tools.list))
	}
	set(&body, "tool_choice", tools.choice)
	set(&body, "thinking", think.config)
	if config := outputConfig(chat, f, think.effort); len(config) > 0 {
		body.Set("output_config", config.Value())
	}
	if stop := stopSequences(chat); len(stop) > 0 {
		body.Set("stop_sequences", list(stop))
	}
	if f.samples() && !think.on() {
		sampling(&body, chat, f)
	}
	for _, name := range [...]string{"cache_control", "inference_geo"} {
		set(&body, name, chat.Get(name))
	}
	// OpenAI has members of the same names with other values.
	if tier := chat.Get("service_tier").String(); tier == "auto" || tier == "standard_only" {
		body.Set("service_tier", chat.Get("service_tier"))
	}
	if user := chat.Get("metadata").Get("user_id"); user.Kind() == rawjson.String {
		body.Set("metadata", rawjson.Edit{{Key: "user_id", Value: user}}.Value())
	}
	body.Set("stream", rawjson.Value("true"))
	return body.Value(), nil
}

// set sets a member, unless there is nothing to set.
func set(body *rawjson.Edit, key string, v rawjson.Value) {
	if !v.IsNull() {
		body.Set(key, v)
	}
}

// list puts brackets around items that are joined by commas.
func list(items []byte) rawjson.Value {
	b := append(make([]byte, 0, len(items)+2), '[')
	return append(append(b, items...), ']')
}

// appendItem appends an item to a list without brackets.
func appendItem(items []byte, item rawjson.Value) []byte {
	if len(items) > 0 {
		items = append(items, ',')
	}
	return append(items, item...)
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

// sampling passes on what says how to draw the next word. OpenAI's temperature
// goes up to 2 and this API's to 1.
func sampling(body *rawjson.Edit, chat rawjson.Edit, f family) {
	temperature := chat.Get("temperature")
	if t, err := strconv.ParseFloat(string(temperature), 64); err == nil && t > 1 {
		temperature = rawjson.Value("1")
	}
	set(body, "temperature", temperature)
	if temperature.IsNull() || !f.samplesByOne() {
		set(body, "top_p", chat.Get("top_p"))
	}
	set(body, "top_k", chat.Get("top_k"))
}

// outputConfig returns the effort, and the schema that response_format asks
// for, beside what the request's own output_config says.
func outputConfig(chat rawjson.Edit, f family, effort rawjson.Value) rawjson.Edit {
	config := rawjson.EditOf(chat.Get("output_config"))
	if len(config.Get("effort")) == 0 {
		set(&config, "effort", effort)
	}
	schema := chat.Get("response_format").Path("json_schema", "schema")
	if schema.Kind() == rawjson.Object && f.constrained() && len(config.Get("format")) == 0 {
		config.Set("format", rawjson.Edit{
			{Key: "type", Value: rawjson.Value(`"json_schema"`)},
			{Key: "schema", Value: schema},
		}.Value())
	}
	return config
}

// stopSequences returns the items of stop, one or many. The API refuses those
// that are nothing but space.
func stopSequences(chat rawjson.Edit) (items []byte) {
	for _, name := range [...]string{"stop", "stop_sequences"} {
		v := chat.Get(name)
		if v.Kind() == rawjson.String {
			v = list(v)
		}
		for it := v.Items(); it.Next(); {
			if strings.TrimSpace(it.Value.String()) != "" {
				items = appendItem(items, it.Value)
			}
		}
	}
	return items
}
