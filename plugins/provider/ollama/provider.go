package main

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// ollama speaks Ollama's own API, which unlike its OpenAI route has options of
// the model, above all the size of its context.
type ollama struct {
	body    []byte
	members rawjson.Edit
	talk    conversation
	ids     []byte // scratch of decode
	teller  pattern.Teller
}

func (o *ollama) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	if r.Settings.BaseURL == "" {
		return provider.HTTPRequest{}, errNoBase
	}
	chat := rawjson.AppendMembers(o.members[:0], r.Chat)
	o.members = chat
	b := append(o.body[:0], '{')
	b = appendPresent(b, "model", chat.Get("model"))
	b = append(b, `"stream":true,`...)
	messages, err := o.talk.read(chat.Get("messages"), r)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	b = appendPresent(b, "messages", messages)
	tools := chat.Get("tools")
	if tools.Empty() || chat.Get("tool_choice").Is("none") {
		tools = nil
	}
	b = appendPresent(b, "tools", tools)
	options := modelOptions(chat, r.Option("numCtx"))
	if line := overflow(len(messages)+len(tools), options.Get("num_ctx")); line != "" && r.Attempt == 0 {
		provider.Log(provider.LevelWarn, line)
	}
	b = appendPresent(b, "options", options)
	b = appendPresent(b, "think", thinkingMember(chat, r.Option("think")))
	b = appendPresent(b, "format", formatMember(chat))
	if keep := chat.Get("keep_alive"); !keep.IsNull() {
		b = appendPresent(b, "keep_alive", keep)
	} else if keep := r.Option("keepAlive"); keep != "" {
		b = appendPresent(b, "keep_alive", rawjson.Quote(keep))
	}
	b[len(b)-1] = '}'
	o.body = b
	return provider.HTTPRequest{
		URL:     serverURL(r.Settings.BaseURL) + "/chat",
		Headers: []provider.Header{{Name: "Accept", Value: "application/x-ndjson"}, {Name: "Content-Type", Value: "application/json"}},
		Body:    b, Framing: abi.FramingJSONLines,
	}, nil
}

var errNoBase = provider.Refuse("`baseUrl` is not set: say where Ollama is, such as http://localhost:11434")

// Models implements [provider.ModelLister].
func (*ollama) Models(r *provider.Request) (provider.HTTPRequest, error) {
	if r.Settings.BaseURL == "" {
		return provider.HTTPRequest{}, errNoBase
	}
	return provider.HTTPRequest{Method: "GET", URL: serverURL(r.Settings.BaseURL) + "/tags", Answer: `{"models":[{"name":"{{model}}"},"{{..}}"]}`}, nil
}

// Embed implements [provider.Embedder]. The embedder's url is that of one of two
// routes, of which the older takes one text.
func (*ollama) Embed(r *provider.Request) (provider.HTTPRequest, error) {
	if r.Settings.BaseURL == "" {
		return provider.HTTPRequest{}, errNoBase
	}
	url := r.Settings.BaseURL
	if base := strings.TrimRight(url, "/"); !openai.HasPath(base) || strings.HasSuffix(base, "/v1") || strings.HasSuffix(base, "/api") {
		url = serverURL(base) + "/embed" // a workspace's is that of the API
	}
	h := provider.HTTPRequest{
		URL: url, Answer: `{"embeddings":["{{embedding}}","{{..}}"]}`,
		Headers: []provider.Header{{Name: "Content-Type", Value: "application/json"}},
	}
	if strings.HasSuffix(h.URL, "/api/embeddings") {
		h.Answer = `{"embedding":"{{embedding}}"}`
		h.Body = append(append(rawjson.AppendString([]byte(`{"model":`), r.Model), `,"prompt":`...), firstOf(r.Texts)...)
	} else {
		h.Body = rawjson.AppendString(append(append([]byte(`{"input":`), r.Texts...), `,"model":`...), r.Model)
	}
	h.Body = append(h.Body, '}')
	return h, nil
}

// firstOf returns the first text: with more, the host asks again.
func firstOf(texts rawjson.Value) rawjson.Value {
	it := texts.Items()
	it.Next()
	return it.Value
}

// serverURL returns where the API of a server begins. What ends in /v1 was meant for the route
// that is shaped as OpenAI's.
func serverURL(base string) string {
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
	return strings.TrimRight(strings.TrimSuffix(base, "/api"), "/") + "/api"
}

// appendPresent appends a member and a comma; none where the value is absent or null.
func appendPresent(b []byte, name string, v rawjson.Value) []byte {
	if v.IsNull() {
		return b
	}
	b = append(append(append(b, '"'), name...), `":`...)
	return append(append(b, v...), ',')
}

// sampling are the options that a chat may have under the same name.
var sampling = [...]string{
	"temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty", "repeat_penalty", "repeat_last_n", "typical_p", "mirostat",
}

// modelOptions returns Ollama's options: those that the chat, or the workspace's
// parameters, have as they stand, and over them what other APIs call otherwise.
func modelOptions(chat rawjson.Edit, numCtx string) rawjson.Value {
	all := rawjson.EditOf(chat.Get("options"))
	if len(all.Get("num_ctx")) == 0 && numCtx != "" {
		all.Set("num_ctx", rawjson.Value(numCtx))
	}
	for _, name := range sampling {
		if v := chat.Get(name); !v.IsNull() {
			all.Set(name, v)
		}
	}
	for _, name := range [...]string{"max_tokens", "max_completion_tokens"} {
		if v := chat.Get(name); !v.IsNull() {
			all.Set("num_predict", v)
		}
	}
	switch stop := chat.Get("stop"); {
	case stop.Kind() == rawjson.String:
		all.Set("stop", append(append(rawjson.Value{'['}, stop...), ']'))
	case stop.Len() > 0:
		all.Set("stop", stop)
	}
	if len(all) == 0 {
		return nil
	}
	return all.Value()
}

// overflow says for the log that a conversation is probably longer than the context that
// its model is loaded with, "" where it fits: Ollama then cuts its beginning, and says
// nothing. A token has three bytes or more, by and large.
func overflow(bytes int, numCtx rawjson.Value) string {
	most, ok := numCtx.Int()
	if about := int64(bytes / 3); ok && most > 0 && about > most {
		return "a conversation of about " + strconv.FormatInt(about, 10) + " tokens exceeds numCtx, which is " + strconv.FormatInt(most, 10) + ": Ollama drops its beginning"
	}
	return ""
}

// thinkingMember returns the member think. A model without it refuses the request, so
// nothing is said unless the request or the workspace does.
func thinkingMember(chat rawjson.Edit, option string) rawjson.Value {
	if v := chat.Get("think"); !v.IsNull() {
		return v
	}
	model := chat.Get("model").String()
	effort := chat.Get("reasoning_effort").String()
	if effort == "" {
		effort = option
	}
	switch effort {
	case "":
		return nil
	case "none", "false":
		return rawjson.Value("false")
	case "low", "medium", "high":
		// Of these models alone the word is taken.
		if strings.Contains(model, "gpt-oss") {
			return rawjson.Quote(effort)
		}
	}
	return rawjson.Value("true")
}

// formatMember returns the member format: "json", or a schema.
func formatMember(chat rawjson.Edit) rawjson.Value {
	if v := chat.Get("format"); !v.IsNull() {
		return v
	}
	f := chat.Get("response_format")
	switch f.Get("type").String() {
	case "json_schema":
		if schema := f.Path("json_schema", "schema"); schema.Kind() == rawjson.Object {
			return schema
		}
		return rawjson.Value(`"json"`)
	case "json_object":
		return rawjson.Value(`"json"`)
	}
	return nil
}

// Error implements [provider.Provider].
func (*ollama) Error(r *provider.Response) provider.ProviderError {
	e := openai.Error(r)
	switch {
	case r.Status == 404 && strings.Contains(e.Message, "not found"):
		e.Kind, e.Advice = abi.ErrorNotFound, pullAdvice(e.Message)
	case r.Status == 503 || strings.Contains(e.Message, "server busy"):
		e.Kind = abi.ErrorOverloaded
	}
	return e
}

// lineError is the failure that a line of a response tells.
func lineError(line rawjson.Value) provider.ProviderError {
	e := openai.Error(&provider.Response{Body: line})
	switch {
	case strings.Contains(e.Message, "server busy"):
		e.Kind = abi.ErrorOverloaded
	case e.Kind == abi.ErrorUpstream && strings.Contains(e.Message, "not found"):
		e.Kind, e.Advice = abi.ErrorNotFound, pullAdvice(e.Message)
	}
	return e
}

// pullAdvice says how a model that the server lacks gets there: message names it, in
// quotes of one kind or the other. Of what is not about a model it says nothing.
func pullAdvice(message string) string {
	rest, ok := strings.CutPrefix(message, "model ")
	if !ok {
		return ""
	}
	name := ""
	if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
		name, _, _ = strings.Cut(rest[1:], rest[:1])
	}
	if name == "" || strings.Trim(name, modelSigns) != "" {
		name = "NAME" // the command is to be copied
	}
	return "Pull it where Ollama runs: `ollama pull " + name + "`."
}

// modelSigns are those that names of models are made of.
const modelSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/"

// ownID is the id of a call that came without one: made of its place and of when
// its line was, so that the same bytes give the same id.
func ownID(created rawjson.Value, n int) string {
	b := []byte("call_")
	for _, c := range created {
		if c >= '0' && c <= '9' {
			b = append(b, c)
		}
	}
	return string(strconv.AppendInt(append(b, '_'), int64(n), 10))
}
