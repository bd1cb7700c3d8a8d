package gemini

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// The rules that Gemini's documentation gives for a request, and that its
// refusals teach, written down apart from encode: check names what breaks one.
type rules struct{ broken []string }

// check reads body for a model; signed says that calls need signatures.
func check(body []byte, signed bool) []string {
	var r rules
	var b map[string]any
	if err := json.Unmarshal(body, &b); err != nil {
		return []string{err.Error()}
	}
	r.keys("body", b, "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent", "model")
	r.contents(b["contents"], signed)
	if system, ok := b["systemInstruction"]; ok {
		r.parts("systemInstruction", system, false)
	}
	names := r.tools(b["tools"])
	r.toolConfig(b["toolConfig"], names)
	r.config(b["generationConfig"])
	return r.broken
}

func (r *rules) fail(format string, args ...any) {
	r.broken = append(r.broken, fmt.Sprintf(format, args...))
}

func (r *rules) keys(at string, o map[string]any, known ...string) {
	for k := range o {
		if !slices.Contains(known, k) {
			r.fail("%s: unknown name %q", at, k)
		}
	}
}

func objectOf(v any) map[string]any { o, _ := v.(map[string]any); return o }

func arrayOf(v any) []any { a, _ := v.([]any); return a }

func (r *rules) contents(v any, signed bool) {
	contents := arrayOf(v)
	if len(contents) == 0 {
		r.fail("contents is not specified")
	}
	var calls []map[string]any // of the content before
	for i, v := range contents {
		at := fmt.Sprintf("contents[%d]", i)
		content := objectOf(v)
		r.keys(at, content, "role", "parts")
		role := content["role"]
		if want := []string{"user", "model"}[i%2]; role != want {
			r.fail("%s: role %v, want %s: the user begins and turns alternate", at, role, want)
		}
		now, responses := r.parts(at, v, signed && role == "model")
		if role == "model" && len(responses) > 0 || role == "user" && len(now) > 0 {
			r.fail("%s: calls are the model's, and responses the user's", at)
		}
		if len(responses) != len(calls) {
			r.fail("%s: %d function responses to %d calls", at, len(responses), len(calls))
		}
		for j := range min(len(responses), len(calls)) {
			if responses[j]["name"] != calls[j]["name"] || responses[j]["id"] != calls[j]["id"] {
				r.fail("%s: response %v to call %v", at, responses[j], calls[j])
			}
		}
		calls = now
	}
	if len(calls) > 0 {
		r.fail("the last calls have no responses")
	}
}

// parts checks a content's parts and returns its calls and responses.
func (r *rules) parts(at string, v any, signed bool) (calls, responses []map[string]any) {
	parts := arrayOf(objectOf(v)["parts"])
	if len(parts) == 0 {
		r.fail("%s: parts must not be empty", at)
	}
	for i, v := range parts {
		at, p := fmt.Sprintf("%s.parts[%d]", at, i), objectOf(v)
		r.keys(at, p, "text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult", "thought", "thoughtSignature")
		data := 0
		for _, k := range []string{"text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult"} {
			if _, ok := p[k]; ok {
				data++
			}
		}
		if data != 1 && p["thoughtSignature"] == nil {
			r.fail("%s: %d kinds of data, want one", at, data)
		}
		if text, ok := p["text"]; ok && (text == "" && p["thoughtSignature"] == nil) {
			r.fail("%s: text must not be empty", at)
		}
		if call := objectOf(p["functionCall"]); call != nil {
			r.keys(at, call, "name", "args", "id")
			if _, ok := call["args"].(map[string]any); !ok && call["args"] != nil {
				r.fail("%s: args is not an object", at)
			}
			if signed && len(calls) == 0 && p["thoughtSignature"] == nil {
				r.fail("%s: function call is missing a thought signature", at)
			}
			calls = append(calls, call)
		}
		if response := objectOf(p["functionResponse"]); response != nil {
			r.keys(at, response, "name", "response", "id")
			if _, ok := response["response"].(map[string]any); !ok {
				r.fail("%s: response is not an object", at)
			}
			responses = append(responses, response)
		}
	}
	return calls, responses
}

var functionName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)

func (r *rules) tools(v any) (names []string) {
	for _, tool := range arrayOf(v) {
		r.keys("tools", objectOf(tool), "functionDeclarations", "codeExecution", "googleSearch")
		declarations := arrayOf(objectOf(tool)["functionDeclarations"])
		for _, v := range declarations {
			d := objectOf(v)
			r.keys("function", d, "name", "description", "parameters")
			name, _ := d["name"].(string)
			if !functionName.MatchString(name) || slices.Contains(names, name) {
				r.fail("function name %q is invalid, or there twice", name)
			}
			names = append(names, name)
			if p, ok := d["parameters"]; ok {
				r.schema(name, p)
			}
		}
	}
	return names
}

func (r *rules) toolConfig(v any, names []string) {
	if v == nil {
		return
	}
	c := objectOf(objectOf(v)["functionCallingConfig"])
	r.keys("functionCallingConfig", c, "mode", "allowedFunctionNames")
	mode, _ := c["mode"].(string)
	if !slices.Contains([]string{"AUTO", "ANY", "NONE", "VALIDATED"}, mode) || len(names) == 0 {
		r.fail("mode %q with %d functions", mode, len(names))
	}
	for _, name := range arrayOf(c["allowedFunctionNames"]) {
		if mode == "AUTO" || mode == "NONE" || !slices.Contains(names, name.(string)) {
			r.fail("allowed function %v with mode %s of %v", name, mode, names)
		}
	}
}

// schema checks one of Gemini's schemas.
func (r *rules) schema(at string, v any) {
	s := objectOf(v)
	if branches, ok := s["anyOf"]; ok {
		if len(s) != 1 || len(arrayOf(branches)) < 2 {
			r.fail("%s: anyOf must stand alone and have two branches", at)
		}
		for _, b := range arrayOf(branches) {
			r.schema(at+".anyOf", b)
		}
		return
	}
	r.keys(at, s, "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required",
		"minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "minimum", "maximum", "pattern")
	t, _ := s["type"].(string)
	if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean"}, t) {
		r.fail("%s: type %v", at, s["type"])
	}
	for _, v := range arrayOf(s["enum"]) {
		if text, _ := v.(string); text == "" || t != "string" {
			r.fail("%s: enum value %v of type %s", at, v, t)
		}
	}
	if (s["items"] != nil) != (t == "array") {
		r.fail("%s: items with type %s", at, t)
	}
	if s["items"] != nil {
		r.schema(at+"[]", s["items"])
	}
	if f := s["format"]; f != nil && !slices.Contains([]string{"string date-time", "number float", "number double", "integer int32", "integer int64"}, fmt.Sprint(t, " ", f)) {
		r.fail("%s: format %v of type %s", at, f, t)
	}
	properties := objectOf(s["properties"])
	if properties != nil && t != "object" {
		r.fail("%s: properties with type %s", at, t)
	}
	for name, p := range properties {
		r.schema(at+"."+name, p)
	}
	for _, name := range arrayOf(s["required"]) {
		if _, ok := properties[name.(string)]; !ok {
			r.fail("%s: required property %v is not defined", at, name)
		}
	}
}

func (r *rules) config(v any) {
	c := objectOf(v)
	r.keys("generationConfig", c, "maxOutputTokens", "temperature", "topP", "topK", "stopSequences", "seed", "candidateCount",
		"presencePenalty", "frequencyPenalty", "responseMimeType", "responseSchema", "thinkingConfig")
	r.keys("thinkingConfig", objectOf(c["thinkingConfig"]), "thinkingBudget", "thinkingLevel", "includeThoughts")
	for _, s := range arrayOf(c["stopSequences"]) {
		if text, _ := s.(string); text == "" || len(arrayOf(c["stopSequences"])) > 5 {
			r.fail("stop sequences %v", c["stopSequences"])
		}
	}
	for k, v := range c {
		if v == nil {
			r.fail("generationConfig.%s is null", k)
		}
	}
	if s, ok := c["responseSchema"]; ok {
		r.schema("responseSchema", s)
	}
}
