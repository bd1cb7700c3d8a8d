package search

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/task"
)

// UpdateSettings is the task that patches an index's settings with an object
// of them: a value sets, null resets, what is absent stays. It makes the index
// where there is none. What a value needs of those that are there before it is
// seen at its turn: then the task fails.
func (s *Service) UpdateSettings(uid string, body []byte) (task.New, error) {
	if err := CheckIndexUID(uid); err != nil {
		return task.New{}, err
	}
	if err := apierr.CheckJSON(body); err != nil {
		return task.New{}, err
	}
	over := DefaultSettings()
	if err := over.patch(body, false); err != nil {
		return task.New{}, err
	}
	if err := over.checkFeatures(s.opts.Features()); err != nil {
		return task.New{}, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, body); err != nil {
		return task.New{}, fmt.Errorf("compact settings: %w", err)
	}
	kept, shown, err := s.seal(uid, b.Bytes())
	if err != nil {
		return task.New{}, err
	}
	return task.New{Type: task.SettingsUpdate, IndexUID: uid, Details: shown, Payload: new(payload).encode(kept)}, nil
}

// UpdateSetting is [Service.UpdateSettings] for the one setting that is called
// route in a path; ok is false where there is none. A value null resets it.
func (s *Service) UpdateSetting(uid, route string, body []byte) (n task.New, ok bool, err error) {
	for _, st := range settingsTable() {
		if st.route != route {
			continue
		}
		if err := apierr.CheckJSON(body); err != nil {
			return task.New{}, true, err
		}
		n, err := s.UpdateSettings(uid, fmt.Appendf(nil, "{%q:%s}", st.name, body))
		return n, true, err
	}
	return task.New{}, false, nil
}

// ResetSettings is the task that gives an index the default settings.
func (s *Service) ResetSettings(uid string) (task.New, error) {
	nulls := map[string]any{}
	for _, st := range settingsTable() {
		nulls[st.name] = nil
	}
	b, err := json.Marshal(nulls)
	if err != nil {
		return task.New{}, fmt.Errorf("encode settings: %w", err)
	}
	return s.UpdateSettings(uid, b)
}
