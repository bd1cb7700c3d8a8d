package main

import (
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

const defaultBase = "https://api.openai.com/v1"

// searchFunction is the host's own function.
const searchFunction = "searchInIndex"

type openAI struct{ openai.Decoder }

func (*openAI) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	base := r.Settings.BaseURL
	body := openai.Body(r.Chat)
	if base == "" {
		base = defaultBase
		// The padding of each event against guesses by length doubles the
		// bytes; between host and provider TLS is all there is to guess from.
		options := rawjson.EditOf(body.Get("stream_options"))
		options.Set("include_obfuscation", rawjson.Value("false"))
		body.Set("stream_options", options.Value())
	}
	openai.FamilyOf(body.Get("model").String()).Fit(&body)
	if tools := body.Get("tools"); len(tools) > 0 {
		body.Set("tools", strict(tools))
	}
	h := openai.Request(base, r.Settings, body)
	if r.Settings.OrgID != "" {
		h.Headers["OpenAI-Organization"] = r.Settings.OrgID
	}
	if r.Settings.ProjectID != "" {
		h.Headers["OpenAI-Project"] = r.Settings.ProjectID
	}
	return h, nil
}

func (*openAI) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }

// strict returns tools with the host's search function made strict: the model
// is then held to its schema, which fulfils what strict demands. The client's
// own functions stay as they are.
func strict(tools rawjson.Value) rawjson.Value {
	b := append(make([]byte, 0, len(tools)+16), '[')
	for it := tools.Items(); it.Next(); {
		if len(b) > 1 {
			b = append(b, ',')
		}
		function := it.Value.Get("function")
		if function.Get("name").String() != searchFunction || len(function.Get("strict")) > 0 {
			b = append(b, it.Value...)
			continue
		}
		f := rawjson.EditOf(function)
		f.Set("strict", rawjson.Value("true"))
		tool := rawjson.EditOf(it.Value)
		tool.Set("function", f.Value())
		b = append(b, tool.Value()...)
	}
	return append(b, ']')
}
