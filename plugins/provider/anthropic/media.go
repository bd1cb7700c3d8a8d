package main

import (
	"encoding/base64"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/rawjson"
)

// mediaBlock returns an image or a document as a block; why, where not empty, is what
// is wrong with the part. The provider fetches what is at an address itself.
func mediaBlock(part rawjson.Value) (block rawjson.Value, why string) {
	m := openai.MediaOf(part)
	var b rawjson.Edit
	b.Set("type", rawjson.Value(`"document"`))
	switch {
	case m.Type == "image_url":
		b.Set("type", rawjson.Value(`"image"`))
		if m.URL == "" && m.MIME == "" {
			return nil, "image_url.url` must be a data URI such as data:image/png;base64,…, or an address"
		}
	case m.Type != "file":
		return nil, "type` is none that Anthropic can be given: send text, image_url or file"
	case m.URL == "" && m.ID == "" && m.MIME != "application/pdf" && m.MIME != "text/plain":
		return nil, "file.file_data` must be a PDF or plain text, as data:application/pdf;base64,…, or an address"
	}
	source := rawjson.Edit{{Key: "type", Value: rawjson.Value(`"base64"`)}, {Key: "media_type", Value: rawjson.Quote(m.MIME)}, {Key: "data", Value: rawjson.Quote(m.Data)}}
	switch {
	case m.ID != "":
		source = rawjson.Edit{{Key: "type", Value: rawjson.Value(`"file"`)}, {Key: "file_id", Value: rawjson.Quote(m.ID)}}
	case m.URL != "":
		source = rawjson.Edit{{Key: "type", Value: rawjson.Value(`"url"`)}, {Key: "url", Value: rawjson.Quote(m.URL)}}
	case m.MIME == "text/plain":
		text, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			return nil, "file.file_data` is not base64"
		}
		source.Set("type", rawjson.Value(`"text"`))
		source.Set("data", rawjson.Quote(text))
	}
	b.Set("source", source.Value())
	if m.Name != "" {
		b.Set("title", rawjson.Quote(m.Name))
	}
	if cache := part.Get("cache_control"); cache.Kind() == rawjson.Object {
		b.Set("cache_control", cache)
	}
	return b.Value(), ""
}
