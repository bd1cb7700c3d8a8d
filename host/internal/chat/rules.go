package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/apierr"
)

// checkMerged holds a patched workspace against its plugin. A plugin that is
// gone does not keep the rest from being patched; completions say so then.
func (s *Service) checkMerged(w *Workspace, fields object) error {
	source, ok := s.deps.Sources.Source(w.wish())
	if !ok {
		_, version := fields["pluginVersion"]
		_, changed := fields["source"]
		_, named := fields["plugin"]
		pin := Wish{Source: w.Source, Plugin: w.Plugin}
		any, loaded := s.deps.Sources.Source(pin)
		if !loaded && w.Plugin != "" && (named || changed) {
			return apierr.Newf(apierr.InvalidChatPlugin,
				"No plugin called %q is loaded for the source %s: there is %s. Install it by `parley plugin install FILE --beside`, or send null for the one that the deployment binds to the source.",
				cut(w.Plugin, 64), w.Source, strings.Join(s.deps.Sources.Plugins(w.Source), ", "))
		}
		if loaded && w.PluginVersion != "" && (version || changed || named) {
			m := any.Manifest()
			return apierr.Newf(apierr.InvalidChatPluginVersion,
				"No loaded version of plugin %s meets `pluginVersion` %q; the deployment's pin is %s. Install one that does, or send null for the pin.",
				m.Name, cut(w.PluginVersion, 64), m.Version)
		}
		return nil
	}
	return checkRequired(w, source.Manifest())
}

// checkRequired returns an error of the first missing field's own code that
// names all fields which the manifest requires and w lacks. A missing apiKey
// is no matter here: prompts can be set before it.
func checkRequired(w *Workspace, m *abi.Manifest) error {
	var missing []textField
	for _, f := range textFields {
		if m.Settings[f.name].Required && *f.at(w) == "" {
			missing = append(missing, f)
		}
	}
	if len(missing) == 0 {
		return checkNeededOptions(w, m, false)
	}
	var names []string
	for _, f := range missing {
		name := "`" + f.name + "`"
		if d := m.Settings[f.name].Description; d != "" {
			name += fmt.Sprintf(" (%s)", strings.TrimSuffix(cut(d, 200), "."))
		}
		names = append(names, name)
	}
	return apierr.Newf(missing[0].code, "The source %s needs %s: send it along with PATCH /chats/%s/settings.", w.Source, strings.Join(names, ", "), w.UID)
}

// checkKey returns an error where a completion needs a key and there is none.
func checkKey(w *Workspace, m *abi.Manifest) error {
	switch {
	case !w.APIKey.IsZero():
		return nil
	case w.KeyUnreadable:
		// Even where the plugin could do without: the operator meant a key to
		// be used.
		return apierr.Newf(apierr.MissingChatAPIKey,
			"The `apiKey` of workspace %s was sealed under another master key, so that it cannot be used: start the host with that master key, or send the key again with PATCH /chats/%s/settings.", w.UID, w.UID)
	case m.Settings["apiKey"].Required && !signsWithoutKey(w, m):
		return apierr.Newf(apierr.MissingChatAPIKey,
			"The source %s needs `apiKey`, and workspace %s has none: set it with PATCH /chats/%s/settings.", w.Source, w.UID, w.UID)
	}
	return nil
}

// signsWithoutKey reports whether w has all that one of m's ways to sign in needs
// which wants no key: that stands in for one.
func signsWithoutKey(w *Workspace, m *abi.Manifest) bool {
	values := w.values(m)
	return slices.ContainsFunc(m.Auth, func(a abi.Auth) bool {
		names := manifest.AuthNames(&a)
		return len(names) > 0 && isSet(&a, values) && !slices.ContainsFunc(names, func(n manifest.Name) bool { return n.Name == "apiKey" })
	})
}

// sortedKeys returns the keys of o in order, so that which error comes first
// does not change from one request to the next.
func sortedKeys(o object) []string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
