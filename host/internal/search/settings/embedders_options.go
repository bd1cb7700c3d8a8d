package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// An Option is a setting of the plugin that makes an embedder's vectors.
type Option struct {
	Value  json.RawMessage // a string, a number or a boolean; empty where it is a secret
	Sealed SealedText
}

// Secret reports whether nobody may read o.
func (o Option) Secret() bool { return len(o.Value) == 0 }

var optionName = regexp.MustCompile(`^[a-z][A-Za-z0-9]{0,63}$`)

const (
	maxOptions    = 32
	maxOptionText = 16 << 10
)

// readOptions reads an object over what dst has, by name: null takes one out. What
// the plugin has to say of them, [Embedder.Plugged]'s caller asks.
func readOptions(v value, dst *map[string]Option) error {
	all := maps.Clone(*dst)
	if all == nil {
		all = map[string]Option{}
	}
	err := v.members(func(name string, v value) error {
		switch {
		case !optionName.MatchString(name):
			return fmt.Errorf("`%.200s` is not a name of an option: it has 1 to 64 of a-z, A-Z and 0-9, a small letter first", v.path)
		case v.null():
			delete(all, name)
			return nil
		}
		var o Option
		switch c := v.raw[0]; {
		case c == '{' && v.kept:
			if err := o.Sealed.read(v); err != nil {
				return err
			}
		case c == '{' || c == '[':
			return fmt.Errorf("`%s` must be a string, a number, true or false, but is %s", v.path, rawjson.KindOf(v.raw))
		case len(v.raw) > maxOptionText:
			return fmt.Errorf("`%s` is longer than %d bytes", v.path, maxOptionText)
		default:
			o.Value = bytes.Clone(v.raw)
		}
		all[name] = o
		if len(all) > maxOptions {
			return fmt.Errorf("`%s` is one option too many: at most %d are taken", v.path, maxOptions)
		}
		return nil
	})
	if err == nil {
		*dst = all
	}
	return err
}

// withoutSecretOptions returns options but for those that nobody may read.
func withoutSecretOptions(options map[string]Option) map[string]Option {
	open := maps.Clone(options)
	maps.DeleteFunc(open, func(_ string, o Option) bool { return o.Secret() })
	return open
}

// wireOptions is what clients see of options; kept: what our records hold.
func wireOptions(options map[string]Option, kept bool) map[string]any {
	out := make(map[string]any, len(options))
	for name, o := range options {
		if out[name] = o.Value; o.Secret() {
			out[name] = o.Sealed.wire(kept)
		}
	}
	return out
}

// sameOptions reports whether two sets of options make the same vectors: secrets
// say who asks, not what for.
func sameOptions(a, b map[string]Option) bool {
	return maps.EqualFunc(withoutSecretOptions(a), withoutSecretOptions(b), func(x, y Option) bool { return bytes.Equal(x.Value, y.Value) })
}

// optionsText stands for what sameOptions compares.
func optionsText(options map[string]Option) string {
	open := withoutSecretOptions(options)
	text := ""
	for _, name := range slices.Sorted(maps.Keys(open)) {
		text += fmt.Sprintf(" %q %q", name, open[name].Value)
	}
	return text
}

// Sources lists the sources of plugins that s' embedders name, by where they stand.
func (s *Settings) Sources() map[string]EmbedderSource {
	all := map[string]EmbedderSource{}
	s.eachPlugged(func(path string, e *Embedder) { all[path+".source"] = e.Source })
	return all
}

// Options lists the plain options of plugins that s' embedders have, by where they
// stand, with the source that they are for.
func (s *Settings) Options(f func(path string, source EmbedderSource, options map[string]Option)) {
	s.eachPlugged(func(path string, e *Embedder) { f(path+".options", e.Source, e.Options) })
}

func (s *Settings) eachPlugged(f func(path string, e *Embedder)) {
	for _, name := range slices.Sorted(maps.Keys(s.Embedders)) {
		e := s.Embedders[name]
		path := "embedders." + name
		for _, part := range []struct {
			path string
			at   *Embedder
		}{{path, &e}, {path + "." + searchingPart, e.Searching}, {path + "." + indexingPart, e.Indexing}} {
			if part.at != nil && part.at.Plugged() {
				f(part.path, part.at)
			}
		}
	}
}
