package meilidump

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/task/webhook"
)

// takeFeatures switches features as they were.
func (m *mover) takeFeatures() error {
	s, err := feature.Open(m.ctx, m.db)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(m.dump.features)) {
		on := m.dump.features[name]
		_, err := s.Patch(m.ctx, map[string]bool{name: on})
		switch {
		case err == nil || !isRefused(err):
			if err != nil {
				return err
			}
		case on:
			m.left("The feature %.100s: %s", name, apierr.From(err).Message)
		}
	}
	return nil
}

// isRefused reports whether err is of what was asked for, and none of the
// database.
func isRefused(err error) bool { return apierr.From(err).Code.Status() < 500 }

// validUUID takes UUIDs as they are written here.
func validUUID(s string) bool {
	u, err := uuid.Parse(s)
	return err == nil && u.String() == s
}

// takeKeys takes the API keys with their uids: under the same master key their
// values are the same.
func (m *mover) takeKeys() error {
	for _, raw := range m.dump.keys {
		if err := m.enough(); err != nil {
			return err
		}
		var k struct {
			Name        *string    `json:"name"`
			Description *string    `json:"description"`
			UID         string     `json:"uid"`
			Actions     []string   `json:"actions"`
			Indexes     []string   `json:"indexes"`
			ExpiresAt   *time.Time `json:"expires_at"`
			CreatedAt   time.Time  `json:"created_at"`
			UpdatedAt   time.Time  `json:"updated_at"`
		}
		if err := apierr.DecodeKnown(raw, &k, nil); err != nil || !validUUID(k.UID) {
			m.left("An API key: it cannot be read.")
			continue
		}
		key := auth.Key{UID: k.UID, Name: k.Name, Description: k.Description, ExpiresAt: k.ExpiresAt, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt}
		for _, name := range k.Actions {
			a, err := auth.ParseActions([]string{name})
			if err != nil {
				m.left("The action %.100q of the API key %s: no route here needs it.", name, k.UID)
				continue
			}
			key.Actions = append(key.Actions, a...)
		}
		for _, p := range k.Indexes {
			if !auth.ValidPattern(p) {
				m.left("The index %.100q of the API key %s: it is not a name or pattern of indexes.", p, k.UID)
				continue
			}
			key.Indexes = append(key.Indexes, p)
		}
		if len(key.Actions) == 0 || len(key.Indexes) == 0 {
			m.left("The API key %s: it may do nothing here.", k.UID)
			continue
		}
		if err := m.db.CreateKey(m.ctx, key); err != nil {
			if !isRefused(err) {
				return err
			}
			m.left("The API key %s: %s", k.UID, apierr.From(err).Message)
			continue
		}
		m.report.Keys++
	}
	if m.report.Keys == 0 {
		return nil // there will be the default ones
	}
	return m.db.SeedKeys(m.ctx, nil)
}

// A promptText is a prompt of a workspace, nil where it is the default.
type promptText struct{ *string }

// defaultPrompts are the beginnings of the sums of Meilisearch's own prompts,
// of all versions that have chats. A dump holds them as if they had been set.
var defaultPrompts = []string{
	"d42140d74465796f", "2c5394078ee0b755", "d37c70cf954452ce", "223e23db1ff03142", "c5016f069ee17c95", "0ebef228f3365972", "ce4cd8bf5d9a0654",
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *promptText) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(s))
	if s != "" && !slices.Contains(defaultPrompts, hex.EncodeToString(sum[:8])) {
		p.string = &s
	}
	return nil
}

// takeChats takes the workspaces of chats, their keys sealed.
func (m *mover) takeChats() error {
	workspaces := m.db.Workspaces(m.sealer)
	for _, uid := range slices.Sorted(maps.Keys(m.dump.chats)) {
		var c struct {
			Source, OrgID, ProjectID, APIVersion, DeploymentID, BaseURL, APIKey string
			Prompts                                                             struct {
				System, SearchDescription, SearchQParam, SearchFilterParam, SearchIndexUIDParam promptText
			}
		}
		err := json.Unmarshal(m.dump.chats[uid], &c)
		if err != nil || c.Source == "" || index.CheckUID(uid) != nil {
			m.left("The workspace %.100q: its uid is none here, or its settings cannot be read.", uid)
			continue
		}
		w := &workspace.Workspace{
			UID: uid, Source: c.Source, OrgID: c.OrgID, ProjectID: c.ProjectID, APIVersion: c.APIVersion, DeploymentID: c.DeploymentID,
			BaseURL: c.BaseURL, APIKey: secret.New(c.APIKey), CreatedAt: m.dump.Date.UTC().Truncate(time.Second),
			Prompts: workspace.PromptTexts{
				System: c.Prompts.System.string, SearchDescription: c.Prompts.SearchDescription.string,
				SearchQParam: c.Prompts.SearchQParam.string, SearchIndexUIDParam: c.Prompts.SearchIndexUIDParam.string,
			},
		}
		if c.Prompts.SearchFilterParam.string != nil {
			m.left("The prompt searchFilterParam of the workspace %s: the function that searches has no filter here.", uid)
		}
		err = workspaces.UpdateWorkspace(m.ctx, uid, func(*workspace.Workspace) (*workspace.Workspace, error) { return w, nil })
		if err != nil {
			return err
		}
		m.report.Chats++
	}
	return nil
}

// takeNetwork takes the remotes one by one, their keys sealed.
func (m *mover) takeNetwork() error {
	if len(m.dump.network) == 0 {
		return nil
	}
	var n struct {
		Self    *string
		Remotes map[string]struct {
			URL                       string
			SearchAPIKey, WriteAPIKey *string
		}
		Shards map[string]json.RawMessage
		Leader *string
	}
	if err := json.Unmarshal(m.dump.network, &n); err != nil {
		m.left("The network: network.json cannot be read.")
		return nil
	}
	s := network.New(m.db.Network(m.sealer))
	patch := func(what string, body any) (taken bool, err error) {
		b, err := json.Marshal(body)
		if err != nil {
			return false, err
		}
		if _, err = s.Patch(m.ctx, b); err != nil && isRefused(err) {
			m.left("%s: %s", what, apierr.From(err).Message)
			return false, nil
		}
		return err == nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(n.Remotes)) {
		r := n.Remotes[name]
		taken, err := patch("The remote "+name, map[string]any{"remotes": map[string]any{name: map[string]any{"url": r.URL, "searchApiKey": r.SearchAPIKey}}})
		if err != nil {
			return err
		}
		if taken {
			m.report.Remotes++
		}
		if r.WriteAPIKey != nil {
			m.left("The writeApiKey of the remote %s: nothing is written to remotes here.", name)
		}
	}
	if n.Self != nil {
		if _, err := patch("The network's self", map[string]any{"self": *n.Self}); err != nil {
			return err
		}
	}
	if len(n.Shards) > 0 || n.Leader != nil {
		m.left("Shards and leader of the network: documents here are not spread over hosts.")
	}
	return nil
}

// takeWebhooks takes the webhooks with their uuids, sealed.
func (m *mover) takeWebhooks() error {
	if len(m.dump.webhooks) == 0 {
		return nil
	}
	var w struct {
		Webhooks map[string]struct {
			URL     string
			Headers map[string]string
		}
	}
	if err := json.Unmarshal(m.dump.webhooks, &w); err != nil {
		m.left("The webhooks: webhooks.json cannot be read.")
		return nil
	}
	return m.db.Webhooks(m.sealer).UpdateWebhooks(m.ctx, func(all map[string]webhook.Hook) (map[string]webhook.Hook, error) {
		for _, uid := range slices.Sorted(maps.Keys(w.Webhooks)) {
			h, err := webhook.New(w.Webhooks[uid].URL, w.Webhooks[uid].Headers)
			switch {
			case err != nil:
				m.left("The webhook %.100s: %s", uid, apierr.From(err).Message)
			case !validUUID(uid) || uid == webhook.OperatorUID || len(all) == webhook.Most:
				m.left("The webhook %.100s: its uuid is none that a client may have, or it is one too many.", uid)
			default:
				all[uid] = h
				m.report.Webhooks++
			}
		}
		return all, nil
	})
}
