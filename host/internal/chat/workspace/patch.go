package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// Plugins are the provider plugins that are loaded.
type Plugins interface {
	// Manifest is that of the plugin which meets wish; false: none does.
	Manifest(wish provider.Wish) (*abi.Manifest, bool)
	// Plugins lists the names of the plugins for a source, sorted.
	Plugins(source string) []string
	// SourceNames lists all sources that a plugin answers, sorted.
	SourceNames() []string
}

// A Patcher merges what clients send into stored workspaces.
type Patcher struct {
	Workspaces    Workspaces
	Plugins       Plugins
	Guards        guard.Plugins // nil: there are none
	DefaultSource string        // of a workspace that names none
}

// Fresh returns a workspace of default settings.
func (p *Patcher) Fresh(uid string) *Workspace {
	return &Workspace{UID: uid, Source: p.DefaultSource, CreatedAt: time.Now().UTC().Truncate(time.Second)}
}

// Patch merges body into a workspace's settings, in one transaction, and makes
// the workspace where there is none. warning, where not empty, is the value of
// the response's Warning header.
func (p *Patcher) Patch(ctx context.Context, uid string, body []byte) (_ PatchedSettings, warning string, err error) {
	if err := CheckUID(uid); err != nil {
		return PatchedSettings{}, "", err
	}
	if err := apierr.CheckOnce(body); err != nil {
		return PatchedSettings{}, "", err
	}
	fields, err := jsonbody.Parse(body)
	if err != nil {
		return PatchedSettings{}, "", err
	}
	if err := checkFields(fields); err != nil {
		return PatchedSettings{}, "", err
	}
	p.await(ctx, uid, fields)
	var merged PatchedSettings
	err = p.Workspaces.UpdateWorkspace(ctx, uid, func(old *Workspace) (*Workspace, error) {
		w := p.Fresh(uid)
		if old != nil {
			w = old
		}
		dropped, err := p.merge(w, fields)
		if err != nil {
			return nil, err
		}
		if err := p.checkMerged(w, fields); err != nil {
			return nil, err
		}
		warning = dropped
		merged = PatchedSettings{Settings: w.Settings(), Options: w.shownOptions(false)}
		return w, nil
	})
	if err != nil {
		return PatchedSettings{}, "", err
	}
	return merged, warning, nil
}

// Try is Patch of fields without storing anything: it returns the workspace that there
// would be.
func (p *Patcher) Try(ctx context.Context, uid string, fields jsonbody.Object) (*Workspace, error) {
	if err := CheckUID(uid); err != nil {
		return nil, err
	}
	if err := checkFields(fields, "model"); err != nil { // which is the caller's
		return nil, err
	}
	p.await(ctx, uid, fields)
	w := p.Fresh(uid)
	switch stored, err := p.Workspaces.Workspace(ctx, uid); {
	case err == nil: // it is others', too
		*w = *stored
		w.Options, w.OptionSecrets = maps.Clone(w.Options), maps.Clone(w.OptionSecrets)
		w.OptionsUnreadable = slices.Clone(w.OptionsUnreadable)
	case len(fields) == 0 || !apierr.Is(err, chaterr.ChatNotFound):
		return nil, err
	}
	if _, err := p.merge(w, fields); err != nil {
		return nil, err
	}
	return w, p.checkMerged(w, fields)
}

// await waits for the plugin that patched settings are about, where it is still to be
// loaded: within the transaction others would wait, too.
func (p *Patcher) await(ctx context.Context, uid string, fields jsonbody.Object) {
	wish := provider.Wish{Source: p.DefaultSource}
	if w, err := p.Workspaces.Workspace(ctx, uid); err == nil {
		wish = w.Wish()
	}
	for name, to := range map[string]*string{"source": &wish.Source, "plugin": &wish.Plugin, "pluginVersion": &wish.Version} {
		if text, ok := rawjson.String(fields[name]); ok || rawjson.IsNull(fields[name]) {
			*to = text
		}
		if len(*to) > maxSetting {
			return // it is refused
		}
	}
	wish.Source = cmp.Or(wish.Source, p.DefaultSource)
	p.Plugins.Manifest(wish)
	if fields["guards"] != nil && p.Guards != nil {
		p.Guards.GuardNames()
	}
}

// merge applies fields to w. warning says that secrets were dropped, or that
// something stored is unknown.
func (p *Patcher) merge(w *Workspace, fields jsonbody.Object) (warning string, err error) {
	source, plugin, baseURL := w.Source, w.Plugin, trimBaseURL(w.BaseURL)
	if err := p.mergeSource(w, fields["source"]); err != nil {
		return "", err
	}
	for _, f := range textFields {
		if v, ok := fields[f.name]; ok {
			if err := mergeText(f.at(w), v, f.name, f.code); err != nil {
				return "", err
			}
		}
	}
	if w.BaseURL != "" {
		if err := checkBaseURL(w.BaseURL); err != nil {
			return "", err
		}
	}
	if w.PluginVersion != "" && !versionConstraint.MatchString(w.PluginVersion) {
		return "", apierr.Newf(chaterr.InvalidChatPluginVersion,
			"`pluginVersion` must be a version constraint such as 1.2.3, ~1.2 or ^1, or null for the deployment's pin.")
	}
	sent, err := mergeKey(w, fields["apiKey"])
	if err != nil {
		return "", err
	}
	moved := w.Source != source || w.Plugin != plugin || trimBaseURL(w.BaseURL) != baseURL
	if !sent && moved && (!w.APIKey.IsZero() || w.KeyUnreadable) {
		w.APIKey, w.KeyUnreadable = secret.Text{}, false
		warning = `299 parley "The stored apiKey was dropped, since source, plugin or baseUrl changed and no apiKey was sent along: a key never travels to another provider. Send apiKey again."`
	}
	options, err := mergeOptions(w, fields["options"], p.manifestOf(w), moved)
	if err != nil {
		return "", err
	}
	if options != "" {
		warning = strings.TrimPrefix(warning+", "+options, ", ")
	}
	if err := mergePrompts(&w.Prompts, fields["prompts"]); err != nil {
		return "", err
	}
	if err := mergeIndexUIDs(w, fields["indexUids"]); err != nil {
		return "", err
	}
	if err := mergeParameters(w, fields["parameters"]); err != nil {
		return "", err
	}
	if err := mergeCitations(w, fields["citations"]); err != nil {
		return "", err
	}
	if err := p.mergeGuardPlugins(w, fields["guards"]); err != nil {
		return "", err
	}
	if err := mergeGuards(w, fields); err != nil {
		return "", err
	}
	return warning, mergeModels(w, fields["models"])
}

// manifestOf is that of the plugin that w has, nil where none is loaded.
func (p *Patcher) manifestOf(w *Workspace) *abi.Manifest {
	m, _ := p.Plugins.Manifest(w.Wish())
	return m
}

func (p *Patcher) mergeSource(w *Workspace, v json.RawMessage) error {
	switch name, ok := rawjson.String(v); {
	case v == nil:
	case rawjson.IsNull(v):
		w.Source = p.DefaultSource
	case !ok:
		return jsonbody.WrongType(chaterr.InvalidChatSource, "source", "the name of a source or null", v)
	default:
		if _, ok := p.Plugins.Manifest(provider.Wish{Source: name}); ok { // the names are those of all plugins, which may be still to be loaded
			w.Source = name
			return nil
		}
		names := p.Plugins.SourceNames()
		if len(names) == 0 {
			return apierr.Newf(chaterr.InvalidChatSource,
				"No loaded plugin answers the source %q: there is none at all. Add one by `parley plugin install`; a running host picks it up automatically.", jsonbody.Cut(name, 64))
		}
		if !slices.Contains(names, name) {
			meant := "."
			if near := apierr.Nearest(name, names); near != "" {
				meant = fmt.Sprintf(": did you mean %q?", near)
			}
			return apierr.Newf(chaterr.InvalidChatSource,
				"No loaded plugin answers the source %q%s Sources: %s. Choose one of them, or add a plugin that answers it by `parley plugin install`; a running host picks it up automatically.", jsonbody.Cut(name, 64), meant, strings.Join(names, ", "))
		}
		w.Source = name
	}
	return nil
}
