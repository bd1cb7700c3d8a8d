package workspace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// mergeOptions applies the field options to w, by the rules of m, the manifest of
// the plugin that w has from now on; nil where none is loaded. moved says that
// requests go elsewhere from now on: secrets that were not sent along are dropped.
// warning says so, or names what is stored and unknown.
func mergeOptions(w *Workspace, v json.RawMessage, m *abi.Manifest, moved bool) (warning string, err error) {
	// What is stored may be shared with who reads.
	w.Options, w.OptionSecrets, w.OptionsUnreadable = maps.Clone(w.Options), maps.Clone(w.OptionSecrets), slices.Clone(w.OptionsUnreadable)
	sent := map[string]bool{}
	switch {
	case v == nil:
	case rawjson.IsNull(v):
		w.Options, w.OptionSecrets, w.OptionsUnreadable = nil, nil, nil
	default:
		fields, ok := jsonbody.ObjectOf(v)
		if !ok {
			return "", jsonbody.WrongType(chaterr.InvalidChatOptions, "options", "an object or null", v)
		}
		for _, name := range jsonbody.SortedKeys(fields) {
			if sent[name], err = w.mergeOption(name, fields[name], m); err != nil {
				return "", err
			}
		}
	}
	if moved {
		if dropped := w.dropSecrets(sent); len(dropped) > 0 {
			warning = fmt.Sprintf(`299 parley "The stored secret options %s were dropped, since source, plugin or baseUrl changed and they were not sent along: a secret never travels to another provider. Send them again."`, strings.Join(dropped, ", "))
		}
	}
	if m == nil {
		return warning, nil
	}
	if err := w.checkOptions(m); err != nil {
		return "", err
	}
	if unknown := w.unknownOptions(m); warning == "" && len(unknown) > 0 {
		warning = fmt.Sprintf(`299 parley "The stored options %s are unknown to %s %s and are not passed on. Send null for each to remove it."`, strings.Join(unknown, ", "), m.Name, m.Version)
	}
	return warning, nil
}

// mergeOption applies one option. sent says that the client gave a value, or took
// it away, as with [mergeKey].
func (w *Workspace) mergeOption(name string, v json.RawMessage, m *abi.Manifest) (sent bool, err error) {
	path := "options." + jsonbody.Cut(name, 64)
	if rawjson.IsNull(v) {
		w.forgetOption(name)
		return true, nil
	}
	if m == nil {
		return false, wrongOption(path, w.unchecked())
	}
	o, ok := m.Options[name]
	if !ok {
		return false, w.unknownOption(path, name, m)
	}
	if !o.Secret {
		if err := manifest.CheckValue(&o, v); err != nil {
			return false, wrongOption(path, fmt.Sprintf("%v, not %s", err, jsonbody.Cut(string(v), 64)))
		}
		w.forgetOption(name)
		if w.Options == nil {
			w.Options = map[string]json.RawMessage{}
		}
		w.Options[name] = json.RawMessage(strings.TrimSpace(string(v)))
		return true, nil
	}
	text, _ := rawjson.String(v)
	stored := w.OptionSecrets[name]
	switch {
	case !stored.IsZero() && text == secret.Obfuscate(stored), slices.Contains(w.OptionsUnreadable, name) && text == secret.ShortestShown:
		return false, nil
	case secret.IsObfuscated(text):
		return false, wrongOption(path, "is an obfuscated secret, and not that of the stored one: send the secret itself, or leave the option out to keep what is stored")
	}
	if err := manifest.CheckValue(&o, v); err != nil {
		return false, wrongOption(path, err.Error())
	}
	w.forgetOption(name)
	if text != "" {
		if w.OptionSecrets == nil {
			w.OptionSecrets = map[string]secret.Text{}
		}
		w.OptionSecrets[name] = secret.New(text)
	}
	return true, nil
}

// unchecked says why no value of an option can be checked.
func (w *Workspace) unchecked() string {
	if w.Plugin != "" || w.PluginVersion != "" {
		return fmt.Sprintf("cannot be checked, since no plugin that is loaded is what the workspace wants for its source %s by `plugin` and `pluginVersion`: install it, change these, or send null to remove the option", w.Source)
	}
	return fmt.Sprintf("cannot be checked, since no plugin that is loaded answers the workspace's source %s: install it, or send null to remove the option", w.Source)
}

// unknownOption refuses an option that m, which answers w's source, does not have.
// A client that does not send the source learns which one it is.
func (w *Workspace) unknownOption(path, name string, m *abi.Manifest) error {
	e := apierr.Unknown("option", path, name, slices.Sorted(maps.Keys(m.Options)))
	if len(m.Options) == 0 {
		e.Message = fmt.Sprintf("Unknown option `%s`: %s %s has none.", path, m.Name, m.Version)
	}
	e.Message += fmt.Sprintf(" The workspace's source is %s: send `source` along where the option is for another.", w.Source)
	e.Code, e.Param = chaterr.InvalidChatOptions, path
	return e
}

// forgetOption takes an option away, whatever kind it was.
func (w *Workspace) forgetOption(name string) {
	delete(w.Options, name)
	delete(w.OptionSecrets, name)
	w.OptionsUnreadable = slices.DeleteFunc(w.OptionsUnreadable, func(s string) bool { return s == name })
}

// dropSecrets takes all secrets away but those in kept, and returns their names.
func (w *Workspace) dropSecrets(kept map[string]bool) (dropped []string) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(w.OptionSecrets)), w.OptionsUnreadable) {
		if !kept[name] {
			w.forgetOption(name)
			dropped = append(dropped, name)
		}
	}
	slices.Sort(dropped)
	return dropped
}

// checkOptions holds the plain options as they are now to m's rules. What of
// Secrets is missing shows when one is needed.
func (w *Workspace) checkOptions(m *abi.Manifest) error {
	for _, name := range slices.Sorted(maps.Keys(m.Options)) {
		o := m.Options[name]
		v, ok := w.Options[name]
		if o.Secret || !ok {
			continue
		}
		if err := manifest.CheckValue(&o, v); err != nil {
			return wrongOption("options."+name, fmt.Sprintf("%v, not %s as it is stored: send another value, or null", err, jsonbody.Cut(string(v), 64)))
		}
	}
	return nil
}

// unknownOptions lists what is stored and m does not have, or has of another
// kind.
func (w *Workspace) unknownOptions(m *abi.Manifest) (all []string) {
	for name := range w.Options {
		if o, ok := m.Options[name]; !ok || o.Secret {
			all = append(all, name)
		}
	}
	for name := range w.OptionSecrets {
		if o, ok := m.Options[name]; !ok || !o.Secret {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func wrongOption(path, why string) *apierr.Error {
	return &apierr.Error{Code: chaterr.InvalidChatOptions, Param: path, Message: fmt.Sprintf("`%s` %s.", path, why)}
}

// shownOptions are the options as the API shows them: secrets obfuscated, or left
// out.
func (w *Workspace) shownOptions(secrets bool) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	maps.Copy(all, w.Options)
	if secrets {
		for name, s := range w.OptionSecrets {
			all[name] = jsonbody.Quote(secret.Obfuscate(s))
		}
		for _, name := range w.OptionsUnreadable {
			all[name] = jsonbody.Quote(secret.ShortestShown)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// CheckNeededOptions returns an error that names the required options which w
// lacks; secrets only where they are needed now.
func CheckNeededOptions(w *Workspace, m *abi.Manifest, secrets bool) error {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(m.Options)) {
		o := m.Options[name]
		_, set := w.Options[name]
		if o.Secret {
			set = !secrets || !w.OptionSecrets[name].IsZero()
		}
		if secrets && slices.Contains(w.OptionsUnreadable, name) {
			return wrongOption("options."+name, fmt.Sprintf("of workspace %s was sealed under another master key, so that it cannot be used: start the host with that master key, or send it again", w.UID))
		}
		if o.Required && !set {
			text := "`options." + name + "`"
			if o.Description != "" {
				text += fmt.Sprintf(" (%s)", strings.TrimSuffix(jsonbody.Cut(o.Description, 200), "."))
			}
			missing = append(missing, text)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return apierr.Newf(chaterr.InvalidChatOptions, "The source %s needs %s: send it along with PATCH /chats/%s/settings.", w.Source, strings.Join(missing, ", "), w.UID)
}

// HasOption reports whether an option of m has a value.
func (w *Workspace) HasOption(m *abi.Manifest, name string) bool {
	if m.Options[name].Secret {
		return !w.OptionSecrets[name].IsZero()
	}
	return w.option(m, name) != nil
}
