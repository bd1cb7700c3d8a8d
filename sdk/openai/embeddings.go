package openai

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// EmbeddingsAnswer is what vectors look like.
const EmbeddingsAnswer = `{"data":[{"embedding":"{{embedding}}"},"{{..}}"]}`

// Embeddings returns the HTTP request for the vectors of r.Texts from the route at
// url, which may be an API's base URL instead, as workspaces have it. dimensions is what the API calls their number, which is sent where r has one
// and the name is not empty.
func Embeddings(url string, r *provider.Request, dimensions string) provider.HTTPRequest {
	if base := strings.TrimRight(url, "/"); !HasPath(base) {
		url = base + "/v1/embeddings"
	} else if strings.HasSuffix(base, "/v1") {
		url = base + "/embeddings"
	}
	b := append(make([]byte, 0, len(r.Texts)+128), '{')
	if r.Dimensions > 0 && dimensions != "" {
		b = append(rawjson.AppendString(b, dimensions), ':')
		b = append(strconv.AppendInt(b, int64(r.Dimensions), 10), ',')
	}
	b = append(append(b, `"input":`...), r.Texts...)
	b = rawjson.AppendString(append(b, `,"model":`...), r.Model)
	h := provider.HTTPRequest{
		URL: url, Body: append(b, '}'), Answer: EmbeddingsAnswer,
		Headers: []provider.Header{{Name: "Content-Type", Value: "application/json"}},
	}
	if r.Settings.APIKey != "" {
		h.Headers = append(h.Headers, provider.Header{Name: "Authorization", Value: "Bearer " + r.Settings.APIKey})
	}
	return h
}
