package workspace

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// Bounds of what a workspace keeps, in bytes where not said otherwise.
const (
	maxSetting    = 2 << 10
	maxKey        = 16 << 10
	maxPrompt     = 256 << 10
	maxParameters = 64 << 10
	maxIndexUIDs  = 1000 // entries
)

// A textField is a setting that is a text or unset.
type textField struct {
	name string
	code apierr.Code
	at   func(*Workspace) *string
}

// textFields are the settings that a manifest may require, but for apiKey.
var textFields = []textField{
	{"orgId", chaterr.InvalidChatOrgID, func(w *Workspace) *string { return &w.OrgID }},
	{"projectId", chaterr.InvalidChatProjectID, func(w *Workspace) *string { return &w.ProjectID }},
	{"apiVersion", chaterr.InvalidChatAPIVersion, func(w *Workspace) *string { return &w.APIVersion }},
	{"deploymentId", chaterr.InvalidChatDeploymentID, func(w *Workspace) *string { return &w.DeploymentID }},
	{"baseUrl", chaterr.InvalidChatBaseURL, func(w *Workspace) *string { return &w.BaseURL }},
	{"defaultModel", chaterr.InvalidChatDefaultModel, func(w *Workspace) *string { return &w.DefaultModel }},
	{"plugin", chaterr.InvalidChatPlugin, func(w *Workspace) *string { return &w.Plugin }},
	{"pluginVersion", chaterr.InvalidChatPluginVersion, func(w *Workspace) *string { return &w.PluginVersion }},
}

var promptFields = []struct {
	name string
	code apierr.Code
	at   func(*PromptTexts) **string
}{
	{"system", chaterr.InvalidChatSystemPrompt, func(p *PromptTexts) **string { return &p.System }},
	{"searchDescription", chaterr.InvalidChatSearchDescription, func(p *PromptTexts) **string { return &p.SearchDescription }},
	{"searchQParam", chaterr.InvalidChatSearchQParam, func(p *PromptTexts) **string { return &p.SearchQParam }},
	{"searchFilterParam", chaterr.InvalidChatSearchFilterParam, func(p *PromptTexts) **string { return &p.SearchFilterParam }},
	{"searchIndexUidParam", chaterr.InvalidChatSearchIndexUIDParam, func(p *PromptTexts) **string { return &p.SearchIndexUIDParam }},
}

// reservedParameters are what a request or the host itself says, so that a
// workspace cannot.
var reservedParameters = []string{"messages", "model", "stream", "n", "tools", "functions"}

// versionConstraint is what package plugin understands.
var versionConstraint = regexp.MustCompile(`^(=?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?|[~^]\d{1,9}(\.\d{1,9}){0,2})$`)

// checkFields refuses fields that are neither settings nor others.
func checkFields(fields jsonbody.Object, others ...string) error {
	known := append([]string{"source", "apiKey", "prompts", "indexUids", "parameters", "models", "citations", "options", "guards"}, others...)
	for _, f := range guardFields {
		known = append(known, f.name)
	}
	for _, f := range textFields {
		known = append(known, f.name)
	}
	if err := checkKnown("", fields, known); err != nil {
		return err
	}
	prompts, ok := jsonbody.ObjectOf(fields["prompts"])
	if !ok {
		return nil // absent, null, or refused by merge
	}
	known = nil
	for _, f := range promptFields {
		known = append(known, f.name)
	}
	return checkKnown("prompts.", prompts, known)
}

func checkKnown(prefix string, fields jsonbody.Object, known []string) error {
	for _, name := range jsonbody.SortedKeys(fields) {
		if !slices.Contains(known, name) {
			return apierr.Unknown("field", prefix+name, name, known)
		}
	}
	return nil
}

func mergeText(to *string, v json.RawMessage, path string, code apierr.Code) error {
	if rawjson.IsNull(v) {
		*to = ""
		return nil
	}
	text, ok := rawjson.String(v)
	if !ok {
		return jsonbody.WrongType(code, path, "a string or null", v)
	}
	if len(text) > maxSetting {
		return apierr.Newf(code, "`%s` is longer than %d bytes.", path, maxSetting)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return apierr.Newf(code, "`%s` holds a control character, such as a line end.", path)
	}
	*to = text
	return nil
}

func mergePrompts(p *PromptTexts, v json.RawMessage) error {
	switch {
	case v == nil:
		return nil
	case rawjson.IsNull(v):
		*p = PromptTexts{}
		return nil
	}
	fields, ok := jsonbody.ObjectOf(v)
	if !ok {
		return jsonbody.WrongType(chaterr.InvalidChatPrompts, "prompts", "an object or null", v)
	}
	for _, f := range promptFields {
		v, ok := fields[f.name]
		if !ok {
			continue
		}
		if rawjson.IsNull(v) {
			*f.at(p) = nil
			continue
		}
		text, ok := rawjson.String(v)
		if !ok {
			return jsonbody.WrongType(f.code, "prompts."+f.name, "a string or null", v)
		}
		if len(text) > maxPrompt {
			return apierr.Newf(f.code, "`prompts.%s` is longer than %d bytes.", f.name, maxPrompt)
		}
		*f.at(p) = &text
	}
	return nil
}

// readList reads the field called name, which is a list of at most so many things.
func readList(code apierr.Code, name, things string, v json.RawMessage, most int) ([]json.RawMessage, error) {
	items, ok := jsonbody.ArrayOf(v)
	if !ok {
		return nil, jsonbody.WrongType(code, name, "an array of "+things+" or null", v)
	}
	if len(items) > most {
		return nil, apierr.Newf(code, "`%s` has more than %d entries.", name, most)
	}
	return items, nil
}

func mergeIndexUIDs(w *Workspace, v json.RawMessage) error {
	switch {
	case v == nil:
		return nil
	case rawjson.IsNull(v):
		w.IndexUIDs = nil
		return nil
	}
	items, err := readList(chaterr.InvalidChatIndexUIDs, "indexUids", "index uids", v, maxIndexUIDs)
	if err != nil {
		return err
	}
	uids := []string{}
	for i, item := range items {
		uid, ok := rawjson.String(item)
		if !ok || !ValidUID(uid) {
			return apierr.Newf(chaterr.InvalidChatIndexUIDs,
				"`indexUids[%d]` is not an index uid: it is a string of 1 to %d characters of A-Z a-z 0-9 - _.", i, MaxUID)
		}
		if !slices.Contains(uids, uid) {
			uids = append(uids, uid)
		}
	}
	w.IndexUIDs = uids
	return nil
}

func mergeParameters(w *Workspace, v json.RawMessage) error {
	switch {
	case v == nil:
		return nil
	case rawjson.IsNull(v):
		w.Parameters = nil
		return nil
	}
	fields, ok := jsonbody.ObjectOf(v)
	if !ok {
		return jsonbody.WrongType(chaterr.InvalidChatParameters, "parameters", "an object or null", v)
	}
	if len(v) > maxParameters {
		return apierr.Newf(chaterr.InvalidChatParameters, "`parameters` is longer than %d bytes.", maxParameters)
	}
	for _, name := range jsonbody.SortedKeys(fields) {
		if slices.Contains(reservedParameters, name) {
			return apierr.Newf(chaterr.InvalidChatParameters,
				"`parameters.%s` cannot be set for a workspace: each request says it. Leave it out.", name)
		}
	}
	w.Parameters = bytes.Clone(bytes.TrimSpace(v))
	return nil
}
