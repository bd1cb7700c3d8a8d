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

// bedrock speaks Amazon Bedrock's ConverseStream, which is one form for models of
// all makers.
type bedrock struct {
	members rawjson.Edit
	body    []byte
	talk    conversation
	scratch []byte
	teller  pattern.Teller
}

// asGiven are members of Converse that a workspace's parameters may have.
var asGiven = [...]string{
	"additionalModelRequestFields", "guardrailConfig", "outputConfig", "performanceConfig", "requestMetadata", "serviceTier",
}

func (b *bedrock) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	address, err := endpointURL(r, "bedrock-runtime")
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	chat := rawjson.AppendMembers(b.members[:0], r.Chat)
	b.members = chat
	model := chat.Get("model").String()
	if model == "" {
		return provider.HTTPRequest{}, provider.Refuse("`model` is not set: name a model of Bedrock, an inference profile or an ARN")
	}
	if err := b.talk.read(r); err != nil {
		return provider.HTTPRequest{}, err
	}
	var body rawjson.Edit
	body.Set("messages", b.talk.messages())
	format := chat.Get("response_format")
	if schema := format.Path("json_schema", "schema"); schema.Kind() == rawjson.Object {
		body.Set("outputConfig", outputConfig(format.Get("json_schema"), schema))
	} else if text := openai.AskForJSON(format); text != "" {
		b.talk.system = appendText(appendComma(b.talk.system), text)
	}
	if len(b.talk.system) > 0 {
		body.Set("system", wrapArray(b.talk.system))
	}
	config, err := inferenceConfig(chat)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	if len(config) > 0 {
		body.Set("inferenceConfig", config.Value())
	}
	tools, err := b.talk.toolConfig(chat)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	body.Set("toolConfig", tools)
	for _, name := range asGiven {
		if v := chat.Get(name); !v.IsNull() {
			body.Set(name, v)
		}
	}
	b.body = body.Append(b.body[:0])
	return provider.HTTPRequest{
		URL: address + "/model/" + provider.EscapeURL(model) + "/converse-stream",
		Headers: []provider.Header{
			{Name: "Accept", Value: "application/vnd.amazon.eventstream"}, {Name: "Content-Type", Value: "application/json"},
		},
		Body: b.body, Framing: abi.FramingAWSEventStream, Head: []string{"x-amzn-requestid"},
	}, nil
}

// outputConfig asks for JSON that fits a schema, which this API wants as text.
func outputConfig(format, schema rawjson.Value) rawjson.Value {
	inner := rawjson.Edit{{Key: "schema", Value: rawjson.Quote(string(openai.StrictSchema(schema)))}}
	for _, name := range [...]string{"name", "description"} {
		if v := format.Get(name); v.Kind() == rawjson.String {
			inner.Set(name, v)
		}
	}
	b := append(rawjson.Value(`{"textFormat":{"type":"json_schema","structure":{"jsonSchema":`), inner.Value()...)
	return append(b, "}}}"...)
}

// Models implements [provider.ModelLister]: the models that make text and can be
// named as they are. Inference profiles are not among them.
func (*bedrock) Models(r *provider.Request) (provider.HTTPRequest, error) {
	if r.Settings.BaseURL != "" {
		return provider.HTTPRequest{}, provider.Refuse("An endpoint of one's own, `baseUrl`, does not list models: look them up in the console of AWS")
	}
	address, err := endpointURL(r, "bedrock")
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	return provider.HTTPRequest{
		Method: "GET", URL: address + "/foundation-models?byOutputModality=TEXT&byInferenceType=ON_DEMAND",
		Answer: `{"modelSummaries":[{"modelId":"{{model}}"},"{{..}}"]}`,
	}, nil
}

// Embed implements [provider.Embedder]: models of Amazon, which take one text, and of
// Cohere. The embedder's url is an endpoint of one's own.
func (*bedrock) Embed(r *provider.Request) (provider.HTTPRequest, error) {
	address, err := endpointURL(r, "bedrock-runtime")
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	h := provider.HTTPRequest{
		URL:     address + "/model/" + provider.EscapeURL(r.Model) + "/invoke",
		Headers: []provider.Header{{Name: "Accept", Value: "application/json"}, {Name: "Content-Type", Value: "application/json"}},
	}
	var body rawjson.Edit
	size := rawjson.Value(strconv.Itoa(r.Dimensions))
	switch {
	case strings.Contains(r.Model, "titan-embed-text"):
		it := r.Texts.Items()
		it.Next() // with more texts, the host asks again
		body.Set("inputText", it.Value)
		if r.Dimensions > 0 && !strings.Contains(r.Model, "titan-embed-text-v1") {
			body.Set("dimensions", size)
		}
		h.Answer = `{"embedding":"{{embedding}}"}`
	case strings.Contains(r.Model, "cohere.embed-"):
		kind := "search_document"
		if r.InputType == abi.InputQuery {
			kind = "search_query"
		}
		body.Set("texts", r.Texts)
		body.Set("input_type", rawjson.Quote(kind))
		body.Set("embedding_types", rawjson.Value(`["float"]`))
		if r.Dimensions > 0 && !strings.Contains(r.Model, "v3") {
			body.Set("output_dimension", size)
		}
		h.Answer = `{"embeddings":{"float":["{{embedding}}","{{..}}"]}}`
	default:
		return provider.HTTPRequest{}, provider.Refuse("`model` is not a model that makes vectors and that this plugin knows: name one of amazon.titan-embed-text-… or cohere.embed-…")
	}
	h.Body = body.Value()
	return h, nil
}

// endpointURL returns where a service of Bedrock's is. What it lacks is told here: the host
// would send the request unsigned.
func endpointURL(r *provider.Request, service string) (string, error) {
	signs := r.IsSet("accessKeyId") && r.IsSet("secretAccessKey")
	if !signs && !r.IsSet("apiKey") {
		return "", provider.Refuse("The workspace has nothing to sign in with: set `options.accessKeyId` and `options.secretAccessKey`, or `apiKey` to a Bedrock API key")
	}
	if r.Settings.BaseURL != "" {
		return strings.TrimRight(r.Settings.BaseURL, "/"), nil
	}
	region := r.Option("region")
	domain := ".amazonaws.com"
	switch {
	case region == "":
		return "", provider.Refuse("`options.region` is not set: name a region of AWS, such as us-east-1")
	case strings.HasPrefix(region, "cn-"):
		domain = ".amazonaws.com.cn"
	case strings.HasPrefix(region, "eusc-"):
		domain = ".amazonaws.eu"
	}
	return "https://" + service + "." + region + domain, nil
}

// inferenceConfig returns inferenceConfig.
func inferenceConfig(chat rawjson.Edit) (rawjson.Edit, error) {
	var c rawjson.Edit
	for _, n := range [...]struct{ chat, converse string }{
		{"max_completion_tokens", "maxTokens"}, {"max_tokens", "maxTokens"}, {"temperature", "temperature"}, {"top_p", "topP"},
	} {
		if v := chat.Get(n.chat); !v.IsNull() && len(c.Get(n.converse)) == 0 {
			c.Set(n.converse, v)
		}
	}
	switch stop := chat.Get("stop"); {
	case stop.Kind() == rawjson.String && len(stop) > 2:
		c.Set("stopSequences", wrapArray(stop))
	case stop.Len() > 0:
		c.Set("stopSequences", stop)
	}
	return c, nil
}

// wrapArray returns an array of values joined by commas.
func wrapArray(joined []byte) rawjson.Value {
	b := append(make([]byte, 0, len(joined)+2), '[')
	return append(append(b, joined...), ']')
}
