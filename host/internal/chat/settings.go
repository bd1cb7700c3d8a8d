package chat

import "encoding/json"

// Settings is what the API shows of a workspace's settings: every key always
// present, null where unset.
type Settings struct {
	Source        string          `json:"source"`
	OrgID         *string         `json:"orgId"`
	ProjectID     *string         `json:"projectId"`
	APIVersion    *string         `json:"apiVersion"`
	DeploymentID  *string         `json:"deploymentId"`
	BaseURL       *string         `json:"baseUrl"`
	APIKey        *string         `json:"apiKey"` // obfuscated, see [Obfuscate]
	Prompts       Prompts         `json:"prompts"`
	IndexUIDs     []string        `json:"indexUids"`
	Parameters    json.RawMessage `json:"parameters"`
	PluginVersion *string         `json:"pluginVersion"`
}

// PatchedSettings is [Settings] without the key apiKey, as PATCH answers.
type PatchedSettings struct {
	Settings
	// APIKey hides the field of Settings: the outer one of a name wins, and
	// this one is always empty.
	APIKey *struct{} `json:"apiKey,omitempty"`
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
}

// settings shows w.
func (w *Workspace) settings() Settings {
	s := Settings{
		Source:        w.Source,
		OrgID:         orNull(w.OrgID),
		ProjectID:     orNull(w.ProjectID),
		APIVersion:    orNull(w.APIVersion),
		DeploymentID:  orNull(w.DeploymentID),
		BaseURL:       orNull(w.BaseURL),
		APIKey:        orNull(Obfuscate(w.APIKey)),
		Prompts:       w.Prompts.effective(),
		IndexUIDs:     w.IndexUIDs,
		Parameters:    w.Parameters,
		PluginVersion: orNull(w.PluginVersion),
	}
	if w.KeyUnreadable {
		s.APIKey = orNull(obfuscatedShort)
	}
	return s
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

const obfuscatedShort = "XXX..."

// Obfuscate shows enough of a key to know it again, by its length in
// characters. It returns an empty text for no key.
func Obfuscate(key Secret) string {
	r := []rune(key.Reveal())
	switch n := len(r); {
	case n == 0:
		return ""
	case n < 10:
		return obfuscatedShort
	case n < 20:
		return string(r[:2]) + "XXXX..."
	case n < 30:
		return string(r[:3]) + "XXXXX..."
	default:
		return string(r[:5]) + "XXXXXX..."
	}
}
