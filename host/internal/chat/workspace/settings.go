package workspace

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// Settings is what the API shows of a workspace's settings: every key always
// present, null where unset.
type Settings struct {
	Source        string          `json:"source"`
	OrgID         *string         `json:"orgId"`
	ProjectID     *string         `json:"projectId"`
	APIVersion    *string         `json:"apiVersion"`
	DeploymentID  *string         `json:"deploymentId"`
	BaseURL       *string         `json:"baseUrl"`
	APIKey        *string         `json:"apiKey"` // obfuscated, see [secret.Obfuscate]
	Prompts       Prompts         `json:"prompts"`
	IndexUIDs     []string        `json:"indexUids"`
	Parameters    json.RawMessage `json:"parameters"`
	Plugin        *string         `json:"plugin"`
	PluginVersion *string         `json:"pluginVersion"`
	DefaultModel  *string         `json:"defaultModel"`
	Models        []string        `json:"models"`
	Citations     bool            `json:"citations"`

	EnforcedParameters  json.RawMessage `json:"enforcedParameters"`
	MaxCompletionTokens *int            `json:"maxCompletionTokens"`
	ClientMessages      *string         `json:"clientMessages"`
	ClientTools         bool            `json:"clientTools"`
	MaxInputBytes       *int            `json:"maxInputBytes"`
	MaxMessages         *int            `json:"maxMessages"`
	MaxRounds           *int            `json:"maxRounds"`
	Limits              limit.Limits    `json:"limits"`
	Tools               string          `json:"tools"` // auto or no
	Fallback            []string        `json:"fallback"`
	FirstByteSeconds    *int            `json:"firstByteSeconds"`
	Guards              []guard.Use     `json:"guards"`
	// Options are the plugin's own settings; secrets are obfuscated.
	Options map[string]json.RawMessage `json:"options"`
}

// PatchedSettings is [Settings] without the key apiKey, as PATCH answers.
type PatchedSettings struct {
	Settings
	// APIKey hides the field of Settings: the outer one of a name wins, and
	// this one is always empty.
	APIKey *struct{} `json:"apiKey,omitempty"`
	// Options has no secrets.
	Options map[string]json.RawMessage `json:"options"`
}

// Prompts holds the effective texts.
type Prompts struct {
	System              string `json:"system"`
	SearchDescription   string `json:"searchDescription"`
	SearchQParam        string `json:"searchQParam"`
	SearchFilterParam   string `json:"searchFilterParam"`
	SearchIndexUIDParam string `json:"searchIndexUidParam"`
}

// WorkspacePrompts is what GET /chats/{uid} answers.
type WorkspacePrompts struct {
	UID string `json:"uid"`
	Prompts
	Defaults Prompts `json:"defaults"` // what is in force where the workspace has none of its own
}

// Settings shows w.
func (w *Workspace) Settings() Settings {
	s := Settings{
		Source:        w.Source,
		OrgID:         orNull(w.OrgID),
		ProjectID:     orNull(w.ProjectID),
		APIVersion:    orNull(w.APIVersion),
		DeploymentID:  orNull(w.DeploymentID),
		BaseURL:       orNull(w.BaseURL),
		APIKey:        orNull(secret.Obfuscate(w.APIKey)),
		Prompts:       w.Prompts.Effective(),
		IndexUIDs:     w.IndexUIDs,
		Parameters:    w.Parameters,
		Plugin:        orNull(w.Plugin),
		PluginVersion: orNull(w.PluginVersion),
		DefaultModel:  orNull(w.DefaultModel),
		Models:        w.Models,
		Citations:     !w.NoCitations,

		EnforcedParameters:  w.Enforced,
		MaxCompletionTokens: orNull(w.MaxCompletionTokens),
		ClientMessages:      orNull(w.ClientMessages),
		ClientTools:         !w.NoClientTools,
		MaxInputBytes:       orNull(w.MaxInputBytes),
		MaxMessages:         orNull(w.MaxMessages),
		MaxRounds:           orNull(w.MaxRounds),
		Limits:              w.Limits,
		Tools:               map[bool]string{false: toolsAuto, true: toolsNo}[w.NoTools],
		Fallback:            w.Fallback,
		FirstByteSeconds:    orNull(w.FirstByteSeconds),
		Guards:              w.Guards,
		Options:             w.shownOptions(true),
	}
	if w.KeyUnreadable {
		s.APIKey = orNull(secret.ShortestShown)
	}
	return s
}

// orNull is nil for what is not set.
func orNull[T comparable](v T) *T {
	var unset T
	if v == unset {
		return nil
	}
	return &v
}
