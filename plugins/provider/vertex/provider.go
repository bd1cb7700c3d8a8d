package main

import (
	"strings"

	"github.com/parley-search/parley/sdk/gemini"
	"github.com/parley-search/parley/sdk/provider"
)

// vertex speaks Gemini's API on Google Cloud: the same bodies and streams as
// Google's own, at a project's place, signed in by a service account.
type vertex struct{ gemini.Provider }

func (v *vertex) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	if !r.IsSet("serviceAccount") {
		return provider.HTTPRequest{}, provider.Refuse("`options.serviceAccount` is not set: set the text of a service account's key file")
	}
	model, body, err := v.Body(r)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	url, err := address(r, model)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	return provider.HTTPRequest{URL: url, Headers: []provider.Header{{Name: "Content-Type", Value: "application/json"}}, Body: body}, nil
}

// address is where a model is asked: one of Google's in the workspace's project, or
// an endpoint that has a path of its own.
func address(r *provider.Request, model string) (string, error) {
	project, location := r.Option("project"), r.Option("location")
	if project == "" {
		return "", provider.Refuse("`options.project` is not set: name a project of Google Cloud")
	}
	if err := check(model); err != nil {
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
		return "", provider.Refuse("`model` is no model of Vertex AI: name it as gemini-2.5-flash, or as projects/…/locations/…/endpoints/…")
	}
	return host(r.Settings.BaseURL, location) + "/v1/" + path + ":streamGenerateContent?alt=sse", nil
}

// host is that of a location. Those of many regions have names of their own.
func host(base, location string) string {
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

// check refuses a name that would lead elsewhere.
func check(model string) error {
	if model == "" {
		return provider.Refuse("`model` is not set: name one, for instance gemini-2.5-flash")
	}
	for _, c := range []byte(model) {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !word && strings.IndexByte("-_./@", c) < 0 || strings.Contains(model, "..") || strings.Contains(model, "//") {
			return provider.Refuse("`model` is no model of Vertex AI: use letters, digits, dots and hyphens, for instance gemini-2.5-flash")
		}
	}
	return nil
}
