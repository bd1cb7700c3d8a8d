package workspace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

const maxModels = 1000 // entries

// mergeModels applies the field models to w, and checks that defaultModel is
// one of them.
func mergeModels(w *Workspace, v json.RawMessage) error {
	switch {
	case v == nil:
	case rawjson.IsNull(v):
		w.Models = nil
	default:
		items, err := readList(chaterr.InvalidChatModels, "models", "model names", v, maxModels)
		if err != nil {
			return err
		}
		models := []string{}
		for i, item := range items {
			name, ok := rawjson.String(item)
			if !ok {
				return jsonbody.WrongType(chaterr.InvalidChatModels, fmt.Sprintf("models[%d]", i), "the name of a model, or a pattern with *", item)
			}
			if name == "" || len(name) > maxSetting || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				return apierr.Newf(chaterr.InvalidChatModels, "`models[%d]` must have 1 to %d bytes and no control characters.", i, maxSetting)
			}
			if !slices.Contains(models, name) {
				models = append(models, name)
			}
		}
		w.Models = models
	}
	if w.DefaultModel != "" && !w.AllowsModel(w.DefaultModel) {
		return apierr.Newf(chaterr.InvalidChatDefaultModel,
			"`defaultModel` is %q, which `models` does not allow: it has %s. Add it there, or choose one of them.", jsonbody.Cut(w.DefaultModel, 64), strings.Join(w.Models, ", "))
	}
	return nil
}

// mergeCitations applies the field citations to w.
func mergeCitations(w *Workspace, v json.RawMessage) error {
	switch strings.TrimSpace(string(v)) {
	case "":
	case "true", "null":
		w.NoCitations = false
	case "false":
		w.NoCitations = true
	default:
		return jsonbody.WrongType(chaterr.InvalidChatCitations, "citations", "true, false or null", v)
	}
	return nil
}

// AllowsModel reports whether requests may ask for the provider's model name.
func (w *Workspace) AllowsModel(name string) bool {
	return w.Models == nil || slices.ContainsFunc(w.Models, func(p string) bool { return matchModel(p, name) })
}

// MatchesModel reports whether one of patterns is name, or fits it.
func MatchesModel(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matchModel(p, name) })
}

// NamesModel reports whether the settings have the model name itself, and not only
// a pattern that allows it.
func (w *Workspace) NamesModel(name string) bool {
	return name != "" && (name == w.DefaultModel || slices.Contains(w.Models, name))
}

// matchModel reports whether name falls under pattern, in which each * stands
// for any text.
func matchModel(pattern, name string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], after
	}
}
