package write

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// UpdateSettings is the task that patches an index's settings with an object
// of them: a value sets, null resets, what is absent stays. It makes the index
// where there is none. What a value needs of those that are there before it is
// seen at its turn: then the task fails. Embedders of a source that Meilisearch
// has and this host has not fail the task, too; the rest of body is applied.
func (s *Writer) UpdateSettings(uid string, body []byte) (task.New, error) {
	return s.settingsTask(uid, body, payload{})
}

func (s *Writer) settingsTask(uid string, body []byte, p payload) (task.New, error) {
	if err := index.CheckUID(uid); err != nil {
		return task.New{}, err
	}
	if err := apierr.CheckOnce(body); err != nil {
		return task.New{}, err
	}
	body, refused, err := settings.WithoutUnoffered(body)
	if err != nil {
		return task.New{}, err
	}
	if refused != nil {
		p.Refused = task.Fail(refused)
	}
	over := settings.DefaultSettings()
	if err := over.Patch(body, false); err != nil {
		return task.New{}, err
	}
	on := s.indexes.Features()
	if err := over.CheckFeatures(on); err != nil {
		return task.New{}, err
	}
	if err := s.embedders.CheckPlugins(&over); err != nil {
		return task.New{}, err
	}
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(body, &sent); err != nil {
		return task.New{}, fmt.Errorf("read settings: %w", err)
	}
	if chat, ok := sent[settings.ChatSetting]; ok && !on.ChatCompletions && string(chat) != "null" {
		return task.New{}, feature.Off(feature.ChatCompletions, "The setting `chat`")
	}
	var b bytes.Buffer
	if err := json.Compact(&b, body); err != nil {
		return task.New{}, fmt.Errorf("compact settings: %w", err)
	}
	var before settings.Settings
	if ix := s.indexes.Find(uid); ix != nil {
		before = ix.Meta().Settings
	}
	kept, shown, err := settings.SealSecrets(b.Bytes(), s.indexes.Sealer, &before, s.embedders.IsSecretOption)
	if err != nil {
		return task.New{}, err
	}
	return task.New{Type: task.SettingsUpdate, IndexUID: uid, Details: shown, Payload: p.encode(kept)}, nil
}

// UpdateSetting is [Writer.UpdateSettings] for the one setting that is called
// route in a path; ok is false where there is none. A value null resets it.
func (s *Writer) UpdateSetting(uid, route string, body []byte) (n task.New, ok bool, err error) {
	name, ok := settings.SettingAt(route)
	if !ok {
		return task.New{}, false, nil
	}
	if err := apierr.CheckOnce(body); err != nil {
		return task.New{}, true, err
	}
	n, err = s.UpdateSettings(uid, fmt.Appendf(nil, "{%q:%s}", name, body))
	return n, true, err
}

// ResetSettings is the task that gives an index the default settings. It makes
// no index: where there is none at its turn, it fails.
func (s *Writer) ResetSettings(uid string) (task.New, error) {
	nulls := map[string]any{}
	for _, name := range settings.SettingNames() {
		nulls[name] = nil
	}
	b, err := json.Marshal(nulls)
	if err != nil {
		return task.New{}, fmt.Errorf("encode settings: %w", err)
	}
	return s.settingsTask(uid, b, payload{Reset: true})
}

// ResetSetting is [Writer.ResetSettings] for the one setting that is called
// route in a path; ok is false where there is none.
func (s *Writer) ResetSetting(uid, route string) (n task.New, ok bool, err error) {
	name, ok := settings.SettingAt(route)
	if !ok {
		return task.New{}, false, nil
	}
	n, err = s.settingsTask(uid, fmt.Appendf(nil, "{%q:null}", name), payload{Reset: true})
	return n, true, err
}
