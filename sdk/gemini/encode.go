package gemini

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// An encoder makes the bodies of native requests. It holds scratch memory: what
// it returns is good until it is asked again.
type encoder struct {
	chat   rawjson.Edit // the request's members
	config rawjson.Edit
	talk   conversation
}

// encode returns the body for e.chat. Gemini refuses a body for one member that
// it does not know, so nothing goes in that is not named here.
func (e *encoder) encode(model string, r *provider.Request) ([]byte, error) {
	chat, c := e.chat, &e.talk
	c.reset(modelGeneration(model) >= 3)
	messages := chat.Get("messages")
	c.body = append(slices.Grow(c.body[:0], 2*len(messages)), `{"contents":[`...)
	if err := c.read(messages, r); err != nil {
		return nil, err
	}
	b := append(c.body, ']')
	if len(c.system) > 0 {
		b = append(append(append(b, `,"systemInstruction":{"parts":[`...), c.system...), "]}"...)
	}
	tools, err := joinFunctions(chat.Get("tools"))
	if err != nil {
		return nil, err
	}
	if len(tools) > 0 {
		b = append(append(append(b, `,"tools":[{"functionDeclarations":[`...), tools...), "]}]"...)
		if choice := toolChoice(chat.Get("tool_choice")); choice != nil {
			b = append(append(append(b, `,"toolConfig":{"functionCallingConfig":`...), choice...), '}')
		}
	}
	if e.config, err = generationConfig(e.config[:0], model, chat); err != nil {
		return nil, err
	}
	if len(e.config) > 0 {
		b = e.config.Append(append(b, `,"generationConfig":`...))
	}
	for _, own := range [...]string{"safetySettings", "cachedContent"} {
		if v := chat.Get(own); !v.IsNull() {
			b = append(append(append(b, `,"`...), own...), `":`...)
			b = append(b, v...)
		}
	}
	c.body = append(b, '}')
	return c.body, nil
}

// settings are the members of generationConfig that a chat has under another
// name, or the same. Of two for one member the first counts.
var settings = [...]struct{ chat, config string }{
	{"max_completion_tokens", "maxOutputTokens"},
	{"max_tokens", "maxOutputTokens"},
	{"temperature", "temperature"},
	{"top_p", "topP"},
	{"top_k", "topK"},
	{"seed", "seed"},
	{"presence_penalty", "presencePenalty"},
	{"frequency_penalty", "frequencyPenalty"},
	{"thinkingConfig", "thinkingConfig"},
}

// generationConfig appends the members of generationConfig.
func generationConfig(config rawjson.Edit, model string, chat rawjson.Edit) (rawjson.Edit, error) {
	for i := range settings {
		s := &settings[i]
		if v := chat.Get(s.chat); !v.IsNull() && len(config.Get(s.config)) == 0 {
			config.Set(s.config, v)
		}
	}
	switch stop := chat.Get("stop"); {
	case stop.Kind() == rawjson.String && len(stop) > 2:
		config.Set("stopSequences", wrapArray(stop))
	case stop.Len() > 5:
		return config, provider.Refuse("`stop` has more than 5 texts: Gemini takes 5 at most")
	case stop.Len() > 0:
		config.Set("stopSequences", stop)
	}
	switch format := chat.Get("response_format"); format.Get("type").String() {
	case "json_schema":
		config.Set("responseMimeType", rawjson.Value(`"application/json"`))
		if schema := format.Path("json_schema", "schema"); schema.Len() > 0 {
			config.Set("responseSchema", reduceSchema(schema))
		}
	case "json_object":
		config.Set("responseMimeType", rawjson.Value(`"application/json"`))
	}
	if effort := chat.Get("reasoning_effort").String(); effort != "" && len(config.Get("thinkingConfig")) == 0 {
		if thinking := thinkingConfig(model, effort); thinking != nil {
			config.Set("thinkingConfig", thinking)
		}
	}
	return config, nil
}

// thinkingConfig puts OpenAI's reasoning_effort into words of the model's
// generation: a level from the third on, a number of tokens before.
func thinkingConfig(model, effort string) rawjson.Value {
	least, off := "low", 128 // what the large models take for least
	if strings.Contains(model, "flash") {
		least, off = "minimal", 0
	}
	level, budget := effort, 0
	switch effort {
	case "none":
		level, budget = least, off
	case "minimal":
		level, budget = least, 1024
	case "low":
		budget = 1024
	case "medium":
		budget = 8192
	case "high", "xhigh":
		level, budget = "high", 24576
	default:
		return nil
	}
	thoughts := strconv.FormatBool(effort != "none")
	if modelGeneration(model) >= 3 {
		return newObject("thinkingLevel", rawjson.Quote(level), "includeThoughts", thoughts)
	}
	return newObject("thinkingBudget", strconv.Itoa(budget), "includeThoughts", thoughts)
}

// joinFunctions returns the functions among tools, joined by commas.
func joinFunctions(tools rawjson.Value) (joined []byte, err error) {
	for it, i := tools.Items(), 0; it.Next(); i++ {
		f := it.Value.Get("function")
		name := f.Get("name")
		if name.String() == "" {
			return nil, provider.Refuse("`tools[" + strconv.Itoa(i) + "]` is not a function with a name: Gemini is given functions only")
		}
		var d rawjson.Edit
		d.Set("name", name)
		if text := f.Get("description"); text.Kind() == rawjson.String {
			d.Set("description", text)
		}
		// A function without parameters has no schema: an object without
		// properties was long refused.
		if schema := reduceSchema(f.Get("parameters")); schema.Get("properties").Len() > 0 || schema.Get("anyOf").Len() > 0 {
			d.Set("parameters", schema)
		}
		joined = appendItem(joined, d.Value())
	}
	return joined, nil
}

// toolChoice returns a functionCallingConfig, nil where the choice is Gemini's
// own default.
func toolChoice(choice rawjson.Value) rawjson.Value {
	var names []byte
	if name := choice.Path("function", "name"); len(name) > 2 {
		return newObject("mode", `"ANY"`, "allowedFunctionNames", string(wrapArray(name)))
	}
	allowed := choice.Get("allowed_tools")
	for it := allowed.Get("tools").Items(); it.Next(); {
		if name := it.Value.Path("function", "name"); len(name) > 2 {
			names = appendItem(names, name)
		}
	}
	mode := choice.String() + allowed.Get("mode").String()
	switch {
	case mode == "none":
		return newObject("mode", `"NONE"`)
	case len(names) > 0 && mode == "required":
		return newObject("mode", `"ANY"`, "allowedFunctionNames", string(wrapArray(names)))
	case len(names) > 0: // AUTO takes no names
		return newObject("mode", `"VALIDATED"`, "allowedFunctionNames", string(wrapArray(names)))
	case mode == "required":
		return newObject("mode", `"ANY"`)
	case mode == "auto":
		return newObject("mode", `"AUTO"`)
	}
	return nil
}

// newObject returns an object of keys, each followed by its value as JSON.
func newObject[T string | rawjson.Value](key string, value T, more ...string) rawjson.Value {
	e := rawjson.Edit{{Key: key, Value: rawjson.Value(value)}}
	for i := 0; i < len(more); i += 2 {
		e.Set(more[i], rawjson.Value(more[i+1]))
	}
	return e.Value()
}

// appendItem appends a value to values joined by commas.
func appendItem(joined []byte, v rawjson.Value) []byte { return append(appendComma(joined), v...) }

// appendComma appends a comma to values that are joined by it, where there are any.
func appendComma(joined []byte) []byte {
	if len(joined) > 0 {
		joined = append(joined, ',')
	}
	return joined
}

// wrapArray returns an array of values joined by commas.
func wrapArray(joined []byte) rawjson.Value {
	b := append(make([]byte, 0, len(joined)+2), '[')
	return append(append(b, joined...), ']')
}
