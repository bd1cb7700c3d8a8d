package main

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/gemini"
	"github.com/parley-search/parley/sdk/provider"
)

// vertex speaks Gemini's API on Google Cloud: the same bodies and streams as
// Google's own, at a project's place, signed in by a service account.
type vertex struct{ gemini.Provider }

func (v *vertex) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	if !r.IsSet("serviceAccount") {
		return provider.HTTPRequest{}, errNoAccount
	}
	model, body, err := v.Body(r)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	url, err := modelURL(r, model, ":streamGenerateContent?alt=sse")
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	return provider.HTTPRequest{URL: url, Headers: []provider.Header{{Name: "Content-Type", Value: "application/json"}}, Body: body}, nil
}

var errNoAccount = provider.Refuse("`options.serviceAccount` is not set: set the text of a service account's key file")

// Models implements [provider.ModelLister]: all that Google itself publishes there.
func (*vertex) Models(r *provider.Request) (provider.HTTPRequest, error) {
	if !r.IsSet("serviceAccount") {
		return provider.HTTPRequest{}, errNoAccount
	}
	url := locationHost(r.Settings.BaseURL, r.Option("location")) + "/v1beta1/publishers/google/models?pageSize=100"
	if r.Next != "" {
		url += "&pageToken=" + provider.EscapeURL(r.Next)
	}
	return provider.HTTPRequest{
		Method: "GET", URL: url,
		Answer: `{"publisherModels":[{"name":"publishers/google/models/{{model}}"},"{{..}}"],"nextPageToken":"{{next}}"}`,
	}, nil
}

// Embed implements [provider.Embedder]. The embedder's url is a private endpoint.
func (*vertex) Embed(r *provider.Request) (provider.HTTPRequest, error) {
	if !r.IsSet("serviceAccount") {
		return provider.HTTPRequest{}, errNoAccount
	}
	url, err := modelURL(r, r.Model, ":predict")
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	task := `,"task_type":"RETRIEVAL_DOCUMENT"}`
	if r.InputType == abi.InputQuery {
		task = `,"task_type":"RETRIEVAL_QUERY"}`
	}
	b := []byte(`{"instances":[`)
	for it := r.Texts.Items(); it.Next(); {
		if b[len(b)-1] == '}' {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"content":`...), it.Value...), task...)
	}
	b = append(b, ']')
	if r.Dimensions > 0 {
		b = append(strconv.AppendInt(append(b, `,"parameters":{"outputDimensionality":`...), int64(r.Dimensions), 10), '}')
	}
	h := provider.HTTPRequest{
		URL: url, Headers: []provider.Header{{Name: "Content-Type", Value: "application/json"}}, Body: append(b, '}'),
		Answer: `{"predictions":[{"embeddings":{"values":"{{embedding}}"}},"{{..}}"]}`,
	}
	if strings.Contains(r.Model, "gemini-embedding") { // which takes one text
		h.Answer = `{"predictions":[{"embeddings":{"values":"{{embedding}}"}}]}`
	}
	return h, nil
}

// modelURL returns where a model is asked: one of Google's in the workspace's project, or
// an endpoint that has a path of its own.
func modelURL(r *provider.Request, model, method string) (string, error) {
	project, location := r.Option("project"), r.Option("location")
	if project == "" {
		return "", provider.Refuse("`options.project` is not set, and the key file in `options.serviceAccount` names none as project_id: set one of them to a project of Google Cloud")
	}
	if err := checkModel(model); err != nil {
		return "", err
	}
	model = strings.TrimPrefix(model, "models/")
	path := "projects/" + project + "/locations/" + location + "/publishers/google/models/" + model
	switch {
	case strings.HasPrefix(model, "projects/"):
		path = model
	case strings.HasPrefix(model, "publishers/"), strings.HasPrefix(model, "endpoints/"):
		path = "projects/" + project + "/locations/" + location + "/" + model
	case strings.Contains(model, "/"):
		return "", provider.Refuse("`model` is not a model of Vertex AI: name it as gemini-2.5-flash, or as projects/…/locations/…/endpoints/…")
	}
	return locationHost(r.Settings.BaseURL, location) + "/v1/" + path + method, nil
}

// locationHost returns that of a location. Those of many regions have names of their own.
func locationHost(base, location string) string {
	switch {
	case base != "":
		return strings.TrimRight(base, "/")
	case location == "" || location == "global":
		return "https://aiplatform.googleapis.com"
	case location == "us" || location == "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

// checkModel refuses a name that would lead elsewhere.
func checkModel(model string) error {
	if model == "" {
		return provider.Refuse("`model` is not set: name one, for instance gemini-2.5-flash")
	}
	for _, c := range []byte(model) {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !word && strings.IndexByte("-_./@", c) < 0 || strings.Contains(model, "..") || strings.Contains(model, "//") {
			return provider.Refuse("`model` is not a model of Vertex AI: use letters, digits, dots and hyphens, for instance gemini-2.5-flash")
		}
	}
	return nil
}
