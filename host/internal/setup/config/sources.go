package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// readFile reads the TOML file that from names.
func readFile(from Sources, options []Option) (path string, values map[string]any, err error) {
	path = from.File
	if path == "" {
		path = DefaultConfigFile
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return path, nil, nil
		}
	}
	k := koanf.New(".")
	if err := k.Load(file.Provider(path), toml.Parser()); err != nil {
		if at, ok := errors.AsType[tomlError](err); ok {
			line, _ := at.Position()
			err = fmt.Errorf("line %d: %w", line, err)
		}
		return path, nil, fmt.Errorf("option config-file-path (%s) is %q: %w: want the path of a TOML file", cmp.Or(from.FileOrigin, defaultOrigin), path, err)
	}
	values = k.Raw()
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(options, func(o Option) bool { return o.Key() == key }) {
			errs = append(errs, fmt.Errorf("configuration file %s: unknown key %.60q%s", path, key, suggest(key, options, Option.Key)))
			delete(values, key)
			continue
		}
		if v := values[key]; !isScalar(v) {
			errs = append(errs, fmt.Errorf("configuration file %s: key %s holds a table or list: want one value", path, key))
			delete(values, key)
		}
	}
	return path, values, errors.Join(errs...)
}

// A tomlError knows where in the file it is.
type tomlError interface {
	error
	Position() (line, column int)
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}

// readEnviron picks the host's variables out of environ.
func readEnviron(environ []string, options []Option) (map[string]any, error) {
	values := map[string]any{}
	var errs []error
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, EnvPrefix) || slices.Contains(otherVariables, name) {
			continue
		}
		i := slices.IndexFunc(options, func(o Option) bool { return o.Env() == name })
		if i < 0 && isServiceLink(name, value) {
			continue
		}
		if i < 0 {
			errs = append(errs, fmt.Errorf("environment: unknown variable %.60s%s", name, suggest(name, options, Option.Env)))
			continue
		}
		values[options[i].Key()] = value
	}
	return values, errors.Join(errs...)
}

// serviceLink is the name of a variable that Kubernetes sets for each service in a
// namespace, and Docker for a link: those of a service whose name begins with parley are
// none of ours.
var serviceLink = regexp.MustCompile(`^PARLEY_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$`)

// isServiceLink reports whether a variable is one of those. PARLEY_PORT is, where it is
// tcp://10.0.0.1:7700, and not where somebody has meant the port to listen on.
func isServiceLink(name, value string) bool {
	return serviceLink.MatchString(name) && (!strings.HasSuffix(name, "_PORT") || strings.HasSuffix(name, "_SERVICE_PORT") || strings.Contains(value, "://") || strings.Contains(name, "_PORT_"))
}

// valueOf is the last value of a variable; empty where it is not set.
func valueOf(environ []string, name string) (value string) {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// suggest names the option nearest to what was written, where one is near.
func suggest(wrote string, options []Option, name func(Option) string) string {
	known := make([]string, len(options))
	for i, o := range options {
		known[i] = name(o)
	}
	if n := apierr.Nearest(wrote, known); n != "" {
		return fmt.Sprintf(": did you mean %s?", n)
	}
	return ": `parley config explain` lists all options"
}
