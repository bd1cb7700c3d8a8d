// Package workspace has what is stored of a chat's workspace: its settings as the
// API shows and patches them, and what its plugin may know of them.
package workspace

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// A Workspace is one conversational use: what is stored of it. A field that is
// empty or nil was never set, or was reset.
type Workspace struct {
	UID string

	// Source is never empty: a default is written down when it is first used,
	// so that a key cannot follow a change of the default to another provider.
	Source       string
	OrgID        string
	ProjectID    string
	APIVersion   string
	DeploymentID string
	BaseURL      string
	APIKey       secret.Text
	// KeyUnreadable says that a key is stored, but sealed under a master key
	// that this process does not have. Storing the workspace keeps it as it is,
	// unless APIKey is set or KeyUnreadable is cleared.
	KeyUnreadable bool

	// Options are the plugin's own settings, as JSON, by name; OptionSecrets those
	// that are secret. OptionsUnreadable names secrets of which the same is true as
	// of a key by KeyUnreadable.
	Options           map[string]json.RawMessage
	OptionSecrets     map[string]secret.Text
	OptionsUnreadable []string

	Prompts PromptTexts

	IndexUIDs     []string        // nil: all that the caller may search
	Parameters    json.RawMessage // a JSON object, or nil
	Plugin        string          // a plugin's name; empty: the one that the deployment binds to Source
	PluginVersion string          // a version constraint; empty: the deployment's pin

	DefaultModel string   // the provider's model for requests that name none; empty: they must
	Models       []string // names and patterns that requests may ask for; nil: all
	NoCitations  bool     // answers of /v1 do not name the documents they were made from

	// What clients may not do: chat's guards.go holds requests to it.
	Enforced            json.RawMessage // a JSON object merged over each request, or nil
	MaxCompletionTokens int             // of each round; 0: as the request says
	ClientMessages      string          // messagesAll, MessagesNoSystem, or empty: all
	NoClientTools       bool
	MaxInputBytes       int          // of a request's body; 0: no bound of the workspace's own
	MaxMessages         int          // of a request; 0: no bound
	MaxRounds           int          // requests to the provider of one answer; 0: [DefaultRounds]
	Limits              limit.Limits // of all its callers together

	// NoTools says that the model has no tools: the host searches before it asks.
	NoTools bool

	Guards []guard.Use // behind those of the deployment

	Fallback []string // workspaces that answer where its provider does not, see chat's fallback.go

	FirstByteSeconds int // that the provider has for the head of its response; 0: what the plugin's manifest says, or the host's option

	CreatedAt time.Time // zero: by a version that did not note it
}

// The rounds of an answer, where a workspace does not say, and the most that it may
// say.
const (
	DefaultRounds = 8
	MostRounds    = 100
)

// PromptTexts holds the prompts that were set; nil stands for the default.
type PromptTexts struct {
	System              *string
	SearchDescription   *string
	SearchQParam        *string
	SearchFilterParam   *string
	SearchIndexUIDParam *string
}

// Workspaces keeps workspaces. Safe for concurrent use. Package chattest holds
// the contract as a test; see package store for the real one.
type Workspaces interface {
	// Workspace returns a workspace, or an [apierr.Error] of code ChatNotFound. It is
	// others', too, and must not be changed.
	Workspace(ctx context.Context, uid string) (*Workspace, error)
	// WorkspaceUIDs returns at most limit uids from offset on, in byte order,
	// and how many there are in all.
	WorkspaceUIDs(ctx context.Context, offset, limit int) (uids []string, total int, err error)
	// UpdateWorkspace calls f with the workspace, nil where there is none, and
	// stores what f returns, all in one transaction: f may be called again
	// where another update got in between. f may change old and return it. An
	// error of f is returned as it is, and nothing is stored.
	UpdateWorkspace(ctx context.Context, uid string, f func(old *Workspace) (*Workspace, error)) error
	// DeleteWorkspace removes a workspace, or returns ChatNotFound.
	DeleteWorkspace(ctx context.Context, uid string) error
}

// MaxUID bounds a uid, in bytes.
const MaxUID = 400

// CheckUID returns an [apierr.Error] unless uid can be a workspace's.
func CheckUID(uid string) error {
	if ValidUID(uid) {
		return nil
	}
	return apierr.Newf(chaterr.InvalidChatWorkspaceUID,
		"%q is not a workspace uid: it is 1 to %d characters of A-Z a-z 0-9 - _.", jsonbody.Cut(uid, 64), MaxUID)
}

// ValidUID holds for workspaces and indexes alike.
func ValidUID(uid string) bool {
	if uid == "" || len(uid) > MaxUID {
		return false
	}
	for i := range len(uid) {
		switch c := uid[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// NotFound is the error for a workspace that does not exist.
func NotFound(uid string) error {
	return apierr.Newf(chaterr.ChatNotFound,
		"There is no workspace %q: create it with PATCH /chats/%s/settings.", jsonbody.Cut(uid, MaxUID), jsonbody.Cut(uid, MaxUID))
}

// Wish is the plugin that w asks for.
func (w *Workspace) Wish() provider.Wish {
	return provider.Wish{Source: w.Source, Plugin: w.Plugin, Version: w.PluginVersion}
}

// PluginSettings is what the plugin of manifest m may see of the workspace.
func (w *Workspace) PluginSettings(m *abi.Manifest) abi.Settings {
	s := abi.Settings{
		OrgID:        w.OrgID,
		ProjectID:    w.ProjectID,
		APIVersion:   w.APIVersion,
		DeploymentID: w.DeploymentID,
		BaseURL:      trimBaseURL(w.BaseURL),
	}
	if !w.APIKey.IsZero() && manifest.UsesPlaceholders(m) {
		s.APIKey = abi.PlaceholderAPIKey
	}
	return s
}
