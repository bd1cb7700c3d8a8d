package openai

import (
	"strings"

	"github.com/parley-search/parley/sdk/provider"
)

// ModelsAnswer is what a list of models looks like.
const ModelsAnswer = `{"data":[{"id":"{{model}}"},"{{..}}"]}`

// Models returns the HTTP request for the list of models under a base URL, which
// may end with [Path].
func Models(base string, s provider.Settings) provider.HTTPRequest {
	root := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(base, "/"), Path), "/")
	h := provider.HTTPRequest{
		Method: "GET", URL: root + "/models", Answer: ModelsAnswer,
		Headers: []provider.Header{{Name: "Accept", Value: "application/json"}},
	}
	if s.APIKey != "" {
		h.Headers = append(h.Headers, provider.Header{Name: "Authorization", Value: "Bearer " + s.APIKey})
	}
	return h
}
