package embedder

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// CheckPlugins holds what a client sent for embedders to the plugins that are
// loaded now. Sources of Meilisearch's own names are taken without a plugin, too:
// what is missing is told when vectors are wanted.
func (s *Service) CheckPlugins(sent *settings.Settings) error {
	sources := sent.Sources()
	for _, path := range slices.Sorted(maps.Keys(sources)) {
		source := string(sources[path])
		known := []string{string(settings.OpenAI), string(settings.Ollama)}
		if slices.Contains(known, source) {
			continue
		}
		if s.Plugins != nil {
			made, err := s.Plugins.CanEmbed(source)
			if err == nil {
				continue
			}
			known = append(known, made...)
		}
		known = append(known, string(settings.UserProvided), string(settings.Rest), string(settings.Composite))
		slices.Sort(known)
		known = slices.Compact(known)
		message := fmt.Sprintf("`%.200s` is %q, which no loaded plugin makes vectors for: it may be \"%s\".", path, source, strings.Join(known, `", "`))
		if near := apierr.Nearest(source, known); near != "" {
			message += fmt.Sprintf(" Did you mean %q?", near)
		}
		return apierr.Newf(indexerr.InvalidSettingsEmbedders, "%s", message)
	}
	return s.checkOptions(sent)
}

// checkOptions holds options to the rules of their plugin's manifest.
func (s *Service) checkOptions(sent *settings.Settings) (err error) {
	sent.Options(func(path string, source settings.EmbedderSource, options map[string]settings.Option) {
		m := s.manifestOf(source)
		if err != nil || m == nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(options)) {
			o, ok := m.Options[name]
			at := fmt.Sprintf("`%.200s.%s`", path, name)
			if !ok {
				known := slices.Sorted(maps.Keys(m.Options))
				message := fmt.Sprintf("%s is not an option of the plugin %s: it has %s.", at, m.Name, strings.Join(known, ", "))
				if near := apierr.Nearest(name, known); near != "" {
					message += fmt.Sprintf(" Did you mean `%s`?", near)
				}
				err = apierr.Newf(indexerr.InvalidSettingsEmbedders, "%s", message)
				return
			}
			if wrong := manifest.CheckValue(&o, options[name].Value); wrong != nil {
				err = apierr.Newf(indexerr.InvalidSettingsEmbedders, "%s %v.", at, wrong)
				return
			}
		}
	})
	return err
}

// manifestOf is that of the plugin which answers source, nil where none does.
func (s *Service) manifestOf(source settings.EmbedderSource) *abi.Manifest {
	if s.Plugins == nil {
		return nil
	}
	return s.Plugins.Manifest(string(source))
}

// IsSecretOption reports whether an option is to be sealed: one of a plugin that
// nobody can ask is.
func (s *Service) IsSecretOption(source settings.EmbedderSource, option string) bool {
	m := s.manifestOf(source)
	if m == nil {
		return true
	}
	o, ok := m.Options[option]
	return !ok || o.Secret
}
