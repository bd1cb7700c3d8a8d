// Package gemini is what providers of Gemini's API share, for guests: Google's own
// service and Vertex AI differ in where a request goes and how it is signed in.
package gemini

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A Provider speaks the native API, and the OpenAI-compatible one where baseUrl
// says so; for that the manifest has an entry of auth that is called bearer. It
// holds scratch memory.
type Provider struct {
	compat struct {
		openai.Encoder
		openai.Decoder
	}
	scratch []byte // unescaped text
	memo    []byte
	reading pattern.Reading // of the event at hand, for the stream
	whole   pattern.Reading // of it, for the streams to come
	kept    pattern.Kept
	holes   []abi.Hole // of the pattern that the host is told of
	target  target
	encoder encoder
}

// Encode implements [provider.Provider].
func (g *Provider) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	t := &g.target
	t.settle(&r.Settings)
	if t.compat {
		return g.encodeCompat(r, t.root), nil
	}
	if err := t.choose(g.read(r)); err != nil {
		return provider.HTTPRequest{}, err
	}
	body, err := g.encoder.encode(t.model, r)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	return provider.HTTPRequest{URL: t.url, Headers: t.headers, Body: body}, nil
}

// Models implements [provider.ModelLister].
func (g *Provider) Models(r *provider.Request) (provider.HTTPRequest, error) {
	t := &g.target
	t.settle(&r.Settings)
	if t.compat {
		return bearer(r, openai.Models(t.root, r.Settings)), nil
	}
	h := provider.HTTPRequest{Method: "GET", URL: t.root + "/models?pageSize=1000", Answer: `{"models":[{"name":"models/{{model}}"},"{{..}}"],"nextPageToken":"{{next}}"}`}
	if r.Next != "" {
		h.URL += "&pageToken=" + provider.EscapeURL(r.Next)
	}
	for _, header := range t.headers {
		if header.Name != "Content-Type" {
			h.Headers = append(h.Headers, header)
		}
	}
	return h, nil
}

// Embed implements [provider.Embedder]. The embedder's url is what baseUrl is of a
// workspace.
func (g *Provider) Embed(r *provider.Request) (provider.HTTPRequest, error) {
	t := &g.target
	t.settle(&r.Settings)
	if t.compat {
		return bearer(r, openai.Embeddings(t.root+"/embeddings", r, "dimensions")), nil
	}
	path, err := modelPath(r.Model)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	task := "RETRIEVAL_DOCUMENT"
	if r.InputType == abi.InputQuery {
		task = "RETRIEVAL_QUERY"
	}
	tail := `}]},"taskType":"` + task + `"`
	if r.Dimensions > 0 {
		tail += `,"outputDimensionality":` + strconv.Itoa(r.Dimensions)
	}
	b := []byte(`{"requests":[`)
	for it := r.Texts.Items(); it.Next(); {
		if b[len(b)-1] == '}' {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"model":"`...), path...), `","content":{"parts":[{"text":`...)
		b = append(append(append(b, it.Value...), tail...), '}')
	}
	return provider.HTTPRequest{
		URL: t.root + "/" + path + ":batchEmbedContents", Headers: t.headers, Body: append(b, "]}"...),
		Answer: `{"embeddings":[{"values":"{{embedding}}"},"{{..}}"]}`,
	}, nil
}

// Body returns the body of a native request, and the model that it is for. It is
// good until it is asked again.
func (g *Provider) Body(r *provider.Request) (model string, body []byte, err error) {
	model = g.read(r).String()
	body, err = g.encoder.encode(model, r)
	return model, body, err
}

// read takes the chat's members, once: each look-up in the chat itself would cross
// all messages. It returns the model.
func (g *Provider) read(r *provider.Request) rawjson.Value {
	g.encoder.chat = rawjson.AppendMembers(g.encoder.chat[:0], r.Chat)
	return g.encoder.chat.Get("model")
}

// modelGeneration returns the number in a model's name, gemini-2.5-flash: 2. Names
// without one, such as gemini-flash-latest, mean the newest; names that are not
// Gemini's are 0.
func modelGeneration(model string) int {
	rest, ok := strings.CutPrefix(model[strings.LastIndexByte(model, '/')+1:], "gemini-")
	switch {
	case !ok:
		return 0
	case rest != "" && rest[0] >= '0' && rest[0] <= '9':
		return int(rest[0] - '0')
	}
	return 9
}

// skipValidator is Google's word for calls whose signature is not known, such
// as those of another provider. Gemini refuses calls without one from the
// third generation on.
const skipValidator = "skip_thought_signature_validator"

// thoughtSignature returns the thought signature that the client kept with a tool
// call, as Google's own OpenAI-compatible API has it.
func thoughtSignature(call rawjson.Value) string {
	return call.Path("extra_content", "google", "thought_signature").String()
}

// extraContent is the member that signature reads.
func extraContent(signature rawjson.Value) rawjson.Value {
	b := append([]byte(`{"google":{"thought_signature":`), signature...)
	return append(b, "}}"...)
}
