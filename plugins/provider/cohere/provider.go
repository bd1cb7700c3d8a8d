package main

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

const defaultBase = "https://api.cohere.com"

// cohere speaks version 2 of Cohere's chat API.
type cohere struct {
	members rawjson.Edit
	body    []byte
	teller  pattern.Teller
	talk    conversation
}

// taken are the members that Cohere knows under the same name: it refuses a
// request for one that it does not know.
var taken = [...]string{
	"model", "documents", "citation_options", "safety_mode", "strict_tools", "max_tokens", "temperature", "seed", "k", "p",
	"frequency_penalty", "presence_penalty", "logprobs", "thinking", "priority", "stop_sequences",
}

// renamed are those that it knows under another; of two for one the first counts.
var renamed = [...]struct{ chat, cohere string }{
	{"max_completion_tokens", "max_tokens"}, {"top_k", "k"}, {"top_p", "p"},
}

func (c *cohere) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	chat := rawjson.AppendMembers(c.members[:0], r.Chat)
	c.members = chat
	var body rawjson.Edit
	for _, name := range taken {
		if v := chat.Get(name); !v.IsNull() {
			body.Set(name, v)
		}
	}
	for _, n := range renamed {
		if v := chat.Get(n.chat); !v.IsNull() && len(body.Get(n.cohere)) == 0 {
			body.Set(n.cohere, v)
		}
	}
	switch stop := chat.Get("stop"); {
	case stop.Kind() == rawjson.String:
		body.Set("stop_sequences", append(append(rawjson.Value{'['}, stop...), ']'))
	case stop.Len() > 5:
		return provider.HTTPRequest{}, provider.Refuse("`stop` has more than 5 texts: Cohere takes 5 at most")
	case stop.Len() > 0:
		body.Set("stop_sequences", stop)
	}
	messages, err := c.talk.read(chat.Get("messages"), r)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	body.Set("messages", messages)
	body.Set("stream", rawjson.Value("true"))
	if err := setTools(&body, chat); err != nil {
		return provider.HTTPRequest{}, err
	}
	if len(body.Get("tools")) == 0 {
		setFormat(&body, chat.Get("response_format"))
	}
	if len(body.Get("thinking")) == 0 {
		setThinking(&body, chat.Get("reasoning_effort").String())
	}
	c.body = body.Append(c.body[:0])
	return provider.HTTPRequest{
		URL:     root(r.Settings.BaseURL) + "/v2/chat",
		Headers: []provider.Header{{Name: "Accept", Value: "text/event-stream"}, {Name: "Content-Type", Value: "application/json"}},
		Body:    c.body, Framing: abi.FramingSSE,
	}, nil
}

// setTools sets the functions among the chat's tools, and which of them must be
// called. auto is what Cohere does by itself.
func setTools(body *rawjson.Edit, chat rawjson.Edit) error {
	choice := chat.Get("tool_choice")
	only := choice.Path("function", "name").String()
	b := []byte{'['}
	for it := chat.Get("tools").Items(); it.Next(); {
		f := it.Value.Get("function")
		name := f.Get("name")
		if name.Kind() != rawjson.String {
			return provider.Refuse("`tools` has one that is not a function: Cohere is given functions only")
		}
		if only != "" && name.String() != only {
			continue
		}
		tool := rawjson.Edit{{Key: "name", Value: name}}
		if d := f.Get("description"); d.Kind() == rawjson.String {
			tool.Set("description", d)
		}
		parameters := rawjson.EditOf(f.Get("parameters"))
		if len(parameters.Get("type")) == 0 {
			parameters.Set("type", rawjson.Value(`"object"`))
		}
		if len(parameters.Get("properties")) == 0 {
			parameters.Set("properties", rawjson.Value("{}"))
		}
		tool.Set("parameters", parameters.Value())
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"type":"function","function":`...), tool.Value()...), '}')
	}
	if len(b) == 1 {
		return nil
	}
	body.Set("tools", append(b, ']'))
	switch mode := choice.String() + choice.Path("allowed_tools", "mode").String(); {
	case only != "" || mode == "required":
		body.Set("tool_choice", rawjson.Value(`"REQUIRED"`))
	case mode == "none":
		body.Set("tool_choice", rawjson.Value(`"NONE"`))
	}
	return nil
}

// Embed implements [provider.Embedder]. The embedder's url replaces that of the
// route's server.
func (*cohere) Embed(r *provider.Request) (provider.HTTPRequest, error) {
	var body rawjson.Edit
	body.Set("model", rawjson.Quote(r.Model))
	body.Set("texts", r.Texts)
	body.Set("input_type", rawjson.Quote(inputTypes[r.InputType]))
	body.Set("embedding_types", rawjson.Value(`["float"]`))
	if r.Dimensions > 0 {
		body.Set("output_dimension", rawjson.Value(strconv.Itoa(r.Dimensions)))
	}
	return provider.HTTPRequest{
		URL: root(strings.TrimSuffix(strings.TrimRight(r.Settings.BaseURL, "/"), "/v2/embed")) + "/v2/embed", Body: body.Value(),
		Headers: []provider.Header{{Name: "Content-Type", Value: "application/json"}},
		Answer:  `{"embeddings":{"float":["{{embedding}}","{{..}}"]}}`,
	}, nil
}

// inputTypes are Cohere's words for what texts are.
var inputTypes = map[string]string{abi.InputDocument: "search_document", abi.InputQuery: "search_query"}

// root is where the API is.
func root(base string) string { return strings.TrimRight(cmp.Or(base, defaultBase), "/") }

// Models implements [provider.ModelLister]: those that chat.
func (*cohere) Models(r *provider.Request) (provider.HTTPRequest, error) {
	url := root(r.Settings.BaseURL) + "/v1/models?endpoint=chat&page_size=1000"
	if r.Next != "" {
		url += "&page_token=" + provider.EscapeURL(r.Next)
	}
	return provider.HTTPRequest{Method: "GET", URL: url, Answer: `{"models":[{"name":"{{model}}"},"{{..}}"],"next_page_token":"{{next}}"}`}, nil
}

func setFormat(body *rawjson.Edit, format rawjson.Value) {
	switch format.Get("type").String() {
	case "json_object":
		body.Set("response_format", rawjson.Value(`{"type":"json_object"}`))
	case "json_schema":
		f := rawjson.Edit{{Key: "type", Value: rawjson.Value(`"json_object"`)}}
		if schema := format.Path("json_schema", "schema"); schema.Kind() == rawjson.Object {
			f.Set("json_schema", schema)
		}
		body.Set("response_format", f.Value())
	}
}

// setThinking puts OpenAI's reasoning_effort into Cohere's words, which know on
// and off. Models that do not reason refuse both, so nothing is said unasked.
func setThinking(body *rawjson.Edit, effort string) {
	switch effort {
	case "":
	case "none":
		body.Set("thinking", rawjson.Value(`{"type":"disabled"}`))
	default:
		body.Set("thinking", rawjson.Value(`{"type":"enabled"}`))
	}
}

// Error implements [provider.Provider].
func (*cohere) Error(r *provider.Response) provider.ProviderError {
	e := openai.Error(r)
	text := strings.ToLower(e.Message)
	switch {
	case r.Status == 402 || r.Status == 429 && strings.Contains(text, "trial key") && strings.Contains(text, "month"):
		e.Kind = abi.ErrorQuota
	case r.Status == 498:
		e.Kind = abi.ErrorAuth
	case r.Status == 499:
		e.Kind = abi.ErrorUpstream
	case tooMany(text + " " + strings.ToLower(errorType(r.Body))):
		e.Kind = abi.ErrorContextLength
	}
	return e
}

// errorType is the word for an error that some answers have beside the message.
func errorType(body []byte) string {
	v, _ := rawjson.Parse(body)
	return v.Get("error_type").String()
}

// tooMany reports whether an error says that the conversation is too long.
func tooMany(text string) bool {
	return strings.Contains(text, "too many tokens") || strings.Contains(text, "too_many_tokens")
}
