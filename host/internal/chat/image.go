package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// An Image is one that a model drew: it holds the data, or its address.
type Image struct {
	URL  string // of http or https, or data:TYPE;base64,DATA
	Type string // of the data, such as image/png; empty where the URL is an address
	Data string // in base64
}

// ImagesIn returns the images among the other members of a delta, a checked object or
// nothing: images, as servers in OpenAI's form have them.
func ImagesIn(delta []byte) (images []Image) {
	var m [1]json.RawMessage
	jsonbody.Pick(delta, m[:], "images")
	items, _ := rawjson.Items(m[0])
	for _, v := range items {
		o, _ := jsonbody.ObjectIn(v)
		url := o.Text("image_url")
		if nested, ok := jsonbody.ObjectIn(o["image_url"]); ok {
			url = nested.Text("url")
		}
		image := Image{URL: url}
		if head, data, ok := strings.Cut(url, ";base64,"); ok && strings.HasPrefix(head, "data:") {
			image.Type, _, _ = strings.Cut(strings.TrimPrefix(head, "data:"), ";")
			image.Data = data
		}
		if image.Data != "" || strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
			images = append(images, image)
		}
	}
	return images
}

// Words stand for the image in a form that has texts alone.
func (i Image) Words() string {
	if i.Data == "" {
		return "![image](" + i.URL + ")"
	}
	return fmt.Sprintf("[The model drew an image (%s, %d bytes). Answers of this API hold text only: /v1/chat/completions and /v1/responses give the image.]", i.Type, len(i.Data)*3/4)
}
