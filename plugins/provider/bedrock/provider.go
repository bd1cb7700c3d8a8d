package main

import (
	"strings"

	"github.com/parley-search/parley/abi"
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
}

// asGiven are members of Converse that a workspace's parameters may have.
var asGiven = [...]string{
	"additionalModelRequestFields", "guardrailConfig", "outputConfig", "performanceConfig", "requestMetadata", "serviceTier",
}

func (b *bedrock) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	address, err := endpoint(r)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	chat := rawjson.AppendMembers(b.members[:0], r.Chat)
	b.members = chat
	model := chat.Get("model").String()
	if model == "" {
		return provider.HTTPRequest{}, provider.Refuse("`model` is not set: name a model of Bedrock, an inference profile or an ARN")
	}
	if err := b.talk.read(chat.Get("messages"), r.Carry); err != nil {
		return provider.HTTPRequest{}, err
	}
	var body rawjson.Edit
	body.Set("messages", b.talk.messages())
	if len(b.talk.system) > 0 {
		body.Set("system", list(b.talk.system))
	}
	config, err := inference(chat)
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
		URL: address + "/model/" + escape(model) + "/converse-stream",
		Headers: []provider.Header{
			{Name: "Accept", Value: "application/vnd.amazon.eventstream"}, {Name: "Content-Type", Value: "application/json"},
		},
		Body: b.body, Framing: abi.FramingAWSEventStream, Head: []string{"x-amzn-requestid"},
	}, nil
}

// endpoint is where the runtime is. What it lacks is told here: the host would
// send the request unsigned.
func endpoint(r *provider.Request) (string, error) {
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
	return "https://bedrock-runtime." + region + domain, nil
}

// escape writes a model's id as one segment of a path. The colon of most ids must
// be escaped, too, or the signature is another than the server's.
func escape(id string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(id)+8)
	for i := range len(id) {
		c := id[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}

// inference returns inferenceConfig.
func inference(chat rawjson.Edit) (rawjson.Edit, error) {
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
		c.Set("stopSequences", list(stop))
	case stop.Len() > 0:
		c.Set("stopSequences", stop)
	}
	return c, nil
}

// list returns an array of values joined by commas.
func list(joined []byte) rawjson.Value {
	b := append(make([]byte, 0, len(joined)+2), '[')
	return append(append(b, joined...), ']')
}
