package workspace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// checkMerged holds a patched workspace against its plugin. A plugin that is
// gone does not keep the rest from being patched; completions say so then.
func (p *Patcher) checkMerged(w *Workspace, fields jsonbody.Object) error {
	plugin, ok := p.Plugins.Manifest(w.Wish())
	if !ok {
		_, version := fields["pluginVersion"]
		_, changed := fields["source"]
		_, named := fields["plugin"]
		pin := provider.Wish{Source: w.Source, Plugin: w.Plugin}
		m, loaded := p.Plugins.Manifest(pin)
		if !loaded && w.Plugin != "" && (named || changed) {
			return apierr.Newf(chaterr.InvalidChatPlugin,
				"No plugin called %q is loaded for the source %s: there is %s. Install it by `parley plugin install FILE --beside`, or send null for the one that the deployment binds to the source.",
				jsonbody.Cut(w.Plugin, 64), w.Source, strings.Join(p.Plugins.Plugins(w.Source), ", "))
		}
		if loaded && w.PluginVersion != "" && (version || changed || named) {
			return apierr.Newf(chaterr.InvalidChatPluginVersion,
				"No loaded version of plugin %s meets `pluginVersion` %q; the deployment's pin is %s. Install one that does, or send null for the pin.",
				m.Name, jsonbody.Cut(w.PluginVersion, 64), m.Version)
		}
		return nil
	}
	return CheckRequired(w, plugin)
}

// CheckRequired returns an error of the first missing field's own code that
// names all fields which the manifest requires and w lacks. A missing apiKey
// is no matter here: prompts can be set before it.
func CheckRequired(w *Workspace, m *abi.Manifest) error {
	var missing []textField
	for _, f := range textFields {
		if m.Settings[f.name].Required && *f.at(w) == "" {
			missing = append(missing, f)
		}
	}
	if len(missing) == 0 {
		return CheckNeededOptions(w, m, false)
	}
	var names []string
	for _, f := range missing {
		name := "`" + f.name + "`"
		if d := m.Settings[f.name].Description; d != "" {
			name += fmt.Sprintf(" (%s)", strings.TrimSuffix(jsonbody.Cut(d, 200), "."))
		}
		names = append(names, name)
	}
	return apierr.Newf(missing[0].code, "The source %s needs %s: send it along with PATCH /chats/%s/settings.", w.Source, strings.Join(names, ", "), w.UID)
}

// CheckKey returns an error where a completion needs a key and there is none.
func CheckKey(w *Workspace, m *abi.Manifest) error {
	switch {
	case !w.APIKey.IsZero():
		return nil
	case w.KeyUnreadable:
		// Even where the plugin could do without: the operator meant a key to
		// be used.
		return apierr.Newf(chaterr.MissingChatAPIKey,
			"The `apiKey` of workspace %s was sealed under another master key, so that it cannot be used: start the host with that master key, or send the key again with PATCH /chats/%s/settings.", w.UID, w.UID)
	case m.Settings["apiKey"].Required && !signsWithoutKey(w, m):
		return apierr.Newf(chaterr.MissingChatAPIKey,
			"The source %s needs `apiKey`, and workspace %s has none: set it with PATCH /chats/%s/settings.", w.Source, w.UID, w.UID)
	}
	return nil
}

// signsWithoutKey reports whether w has all that one of m's ways to sign in needs
// which wants no key: that stands in for one.
func signsWithoutKey(w *Workspace, m *abi.Manifest) bool {
	values := w.Values(m)
	return slices.ContainsFunc(m.Auth, func(a abi.Auth) bool {
		names := manifest.AuthNames(&a)
		return len(names) > 0 && manifest.IsFilled(&a, values) && !slices.ContainsFunc(names, func(n manifest.Name) bool { return n.Name == "apiKey" })
	})
}
