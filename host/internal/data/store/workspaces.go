package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// Workspaces implements [workspace.Workspaces].
type Workspaces struct {
	store  *Store
	sealer *Sealer
	read   readWorkspaces
}

// Workspaces returns the workspaces of s, whose keys are sealed by sealer.
func (s *Store) Workspaces(sealer *Sealer) *Workspaces { return &Workspaces{store: s, sealer: sealer} }

// A workspaceRecord is a workspace as it is kept. Fields are only ever added;
// one that an older build wrote nothing for is empty, which means its default.
type workspaceRecord struct {
	Source        string          `json:"source"`
	OrgID         string          `json:"orgId,omitempty"`
	ProjectID     string          `json:"projectId,omitempty"`
	APIVersion    string          `json:"apiVersion,omitempty"`
	DeploymentID  string          `json:"deploymentId,omitempty"`
	BaseURL       string          `json:"baseUrl,omitempty"`
	SealedKey     []byte          `json:"sealedKey,omitempty"`
	Prompts       promptsRecord   `json:"prompts,omitzero"`
	IndexUIDs     *[]string       `json:"indexUids,omitempty"` // none is not the same as empty
	Parameters    json.RawMessage `json:"parameters,omitempty"`
	Plugin        string          `json:"plugin,omitempty"`
	PluginVersion string          `json:"pluginVersion,omitempty"`
	DefaultModel  string          `json:"defaultModel,omitempty"`
	Models        *[]string       `json:"models,omitempty"` // none is not the same as empty
	NoCitations   bool            `json:"noCitations,omitempty"`
	CreatedAt     time.Time       `json:"createdAt,omitzero"`

	Enforced            json.RawMessage `json:"enforcedParameters,omitempty"`
	MaxCompletionTokens int             `json:"maxCompletionTokens,omitempty"`
	ClientMessages      string          `json:"clientMessages,omitempty"`
	NoClientTools       bool            `json:"noClientTools,omitempty"`
	NoTools             bool            `json:"noTools,omitempty"`
	MaxInputBytes       int             `json:"maxInputBytes,omitempty"`
	MaxMessages         int             `json:"maxMessages,omitempty"`
	MaxRounds           int             `json:"maxRounds,omitempty"`
	// Options are plain, SealedOptions secret.
	Options       map[string]json.RawMessage `json:"options,omitempty"`
	SealedOptions map[string][]byte          `json:"sealedOptions,omitempty"`
	Limits        limit.Limits               `json:"limits,omitzero"`
	Fallback      []string                   `json:"fallback,omitempty"`
	FirstByte     int                        `json:"firstByteSeconds,omitempty"`
	Guards        []guard.Use                `json:"guards,omitempty"`
}

type promptsRecord struct {
	System              *string `json:"system,omitempty"`
	SearchDescription   *string `json:"searchDescription,omitempty"`
	SearchQParam        *string `json:"searchQParam,omitempty"`
	SearchFilterParam   *string `json:"searchFilterParam,omitempty"`
	SearchIndexUIDParam *string `json:"searchIndexUidParam,omitempty"`
}

// Workspace implements [workspace.Workspaces].
func (w *Workspaces) Workspace(_ context.Context, uid string) (*workspace.Workspace, error) {
	found, gone := w.read.get(uid)
	if found != nil {
		return found, nil
	}
	err := w.store.db.View(func(tx *badger.Txn) error {
		var err error
		found, _, err = w.load(tx, uid)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get workspace %q: %w", uid, err)
	}
	if found == nil {
		return nil, workspace.NotFound(uid)
	}
	w.read.add(found, gone)
	return found, nil
}

// WorkspaceUIDs implements [workspace.Workspaces].
func (w *Workspaces) WorkspaceUIDs(_ context.Context, offset, limit int) (uids []string, total int, err error) {
	prefix := []byte(prefixWorkspace)
	err = w.store.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix, o.PrefetchValues = prefix, false
		it := tx.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if total >= offset && len(uids) < limit {
				uids = append(uids, string(it.Item().Key()[len(prefix):]))
			}
			total++
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list workspaces: %w", err)
	}
	return uids, total, nil
}

// UpdateWorkspace implements [workspace.Workspaces].
func (w *Workspaces) UpdateWorkspace(_ context.Context, uid string, f func(old *workspace.Workspace) (*workspace.Workspace, error)) error {
	defer w.read.forget(uid)
	load := func(tx reader) (*workspace.Workspace, *workspaceRecord, error) { return w.load(tx, uid) }
	return updateRecord(w.store, fmt.Sprintf("update workspace %q", uid), prefixWorkspace+uid, load, f, w.encode)
}

// DeleteWorkspace implements [workspace.Workspaces].
func (w *Workspaces) DeleteWorkspace(_ context.Context, uid string) error {
	defer w.read.forget(uid)
	err := w.store.update(func(tx txn) error {
		key := []byte(prefixWorkspace + uid)
		if _, err := tx.Get(key); err != nil {
			return err
		}
		return tx.Delete(key)
	})
	if err == nil {
		err = w.store.deleteAll([]byte(feedbackPrefix(uid)))
	}
	if errors.Is(err, badger.ErrKeyNotFound) {
		return workspace.NotFound(uid)
	}
	if err != nil {
		return fmt.Errorf("delete workspace %q: %w", uid, err)
	}
	return nil
}

// load returns a workspace with its record, nil where there is none.
func (w *Workspaces) load(tx reader, uid string) (*workspace.Workspace, *workspaceRecord, error) {
	value, err := get(tx, []byte(prefixWorkspace+uid))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var r workspaceRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return nil, nil, fmt.Errorf("read record: %w", err)
	}
	found := &workspace.Workspace{
		UID:           uid,
		Source:        r.Source,
		OrgID:         r.OrgID,
		ProjectID:     r.ProjectID,
		APIVersion:    r.APIVersion,
		DeploymentID:  r.DeploymentID,
		BaseURL:       r.BaseURL,
		Prompts:       workspace.PromptTexts(r.Prompts),
		Parameters:    r.Parameters,
		Plugin:        r.Plugin,
		PluginVersion: r.PluginVersion,
		DefaultModel:  r.DefaultModel,
		NoCitations:   r.NoCitations,
		CreatedAt:     r.CreatedAt,

		Enforced:            r.Enforced,
		MaxCompletionTokens: r.MaxCompletionTokens,
		ClientMessages:      r.ClientMessages,
		NoClientTools:       r.NoClientTools,
		NoTools:             r.NoTools,
		MaxInputBytes:       r.MaxInputBytes,
		MaxMessages:         r.MaxMessages,
		MaxRounds:           r.MaxRounds,
		Limits:              r.Limits,
		Fallback:            r.Fallback,
		FirstByteSeconds:    r.FirstByte,
		Guards:              r.Guards,
	}
	if r.Models != nil {
		found.Models = *r.Models
	}
	if r.IndexUIDs != nil {
		found.IndexUIDs = *r.IndexUIDs
	}
	if len(r.SealedKey) > 0 {
		key, err := w.sealer.Open(r.SealedKey, sealPlace(uid))
		// What cannot be opened must not keep the rest from being read and
		// mended: chat returns an error if the key is needed.
		found.KeyUnreadable = err != nil
		found.APIKey = secret.New(string(key))
	}
	w.openOptions(found, &r)
	return found, &r, nil
}

// encode returns the record of u; before is what was kept so far, nil where there
// was none.
func (w *Workspaces) encode(u *workspace.Workspace, before *workspaceRecord) ([]byte, error) {
	if before == nil {
		before = &workspaceRecord{}
	}
	r := workspaceRecord{
		Source:        u.Source,
		OrgID:         u.OrgID,
		ProjectID:     u.ProjectID,
		APIVersion:    u.APIVersion,
		DeploymentID:  u.DeploymentID,
		BaseURL:       u.BaseURL,
		Prompts:       promptsRecord(u.Prompts),
		Parameters:    u.Parameters,
		Plugin:        u.Plugin,
		PluginVersion: u.PluginVersion,
		DefaultModel:  u.DefaultModel,
		NoCitations:   u.NoCitations,
		CreatedAt:     u.CreatedAt,

		Enforced:            u.Enforced,
		MaxCompletionTokens: u.MaxCompletionTokens,
		ClientMessages:      u.ClientMessages,
		NoClientTools:       u.NoClientTools,
		NoTools:             u.NoTools,
		MaxInputBytes:       u.MaxInputBytes,
		MaxMessages:         u.MaxMessages,
		MaxRounds:           u.MaxRounds,
		Limits:              u.Limits,
		Fallback:            u.Fallback,
		FirstByte:           u.FirstByteSeconds,
		Guards:              u.Guards,
	}
	if u.Models != nil {
		r.Models = &u.Models
	}
	if u.IndexUIDs != nil {
		r.IndexUIDs = &u.IndexUIDs
	}
	switch {
	case !u.APIKey.IsZero():
		r.SealedKey = w.sealer.Seal([]byte(u.APIKey.Reveal()), sealPlace(u.UID))
	case u.KeyUnreadable:
		r.SealedKey = before.SealedKey
	}
	w.sealOptions(&r, u, before.SealedOptions)
	value, err := json.Marshal(&r)
	if err != nil {
		return nil, fmt.Errorf("write record: %w", err)
	}
	return value, nil
}

// sealPlace binds a key to its workspace, so that a record that is copied to
// another uid does not bring the key along.
func sealPlace(uid string) string { return "apiKey of workspace " + uid }
