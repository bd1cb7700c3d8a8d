package write

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
)

// tried is how many documents a template is tried on.
const tried = 20

// errTried ends a scan that has seen enough.
var errTried = errors.New("the template was tried")

// warnOfTemplate returns the details of a task that set m's settings with a warning,
// where the chat's template makes nothing of the first documents; nil where there is
// nothing to warn of. What cannot be read is not this task's failure.
func (s *Writer) warnOfTemplate(ctx context.Context, m *index.Meta, shown json.RawMessage) json.RawMessage {
	if m.Settings.Chat.DocumentTemplate == "" || m.Count == 0 {
		return nil
	}
	r, displayed := settings.NewRenderer(&m.Settings), m.Settings.Displayed()
	n := 0
	err := s.indexes.DB.Scan(ctx, m.Docs, func(d storage.Document) error {
		text, err := r.Preview(ctx, attribute.Project(d.Body, displayed))
		if err != nil || strings.TrimSpace(text) != "" {
			return errTried
		}
		if n++; n == tried {
			return errTried
		}
		return nil
	})
	if n < min(m.Count, tried) || err != nil && !errors.Is(err, errTried) {
		return nil
	}
	all := map[string]any{}
	if json.Unmarshal(shown, &all) != nil {
		return nil
	}
	all["warning"] = "chat.documentTemplate makes nothing of the documents that it was tried on: a chat is given their passages instead. Try it by POST /render-template."
	b, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return b
}
