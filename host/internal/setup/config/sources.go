package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/secret"
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
	b, err := os.ReadFile(path)
	if err == nil {
		values, err = parseTOML(b)
	}
	if err != nil {
		if at, ok := errors.AsType[tomlError](err); ok {
			line, _ := at.Position()
			return path, nil, fmt.Errorf("configuration file %s: line %d: %w: want name = value, as in http_addr = \"127.0.0.1:7700\" or db_path = 'C:\\data'", path, line, err)
		}
		return path, nil, fmt.Errorf("option config-file-path (%s) is %q: %w: want the path of a TOML file", cmp.Or(from.FileOrigin, defaultOrigin), path, err)
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Key() == key })
		if i < 0 {
			errs = append(errs, fmt.Errorf("configuration file %s: unknown key %.60q%s", path, key, suggest(key, options, Option.Key)))
			delete(values, key)
			continue
		}
		if list, ok := values[key].([]any); ok && options[i].Kind.List && !slices.ContainsFunc(list, func(v any) bool { return !isScalar(v) }) {
			words := make([]string, len(list))
			for i, v := range list {
				words[i] = fmt.Sprint(v)
			}
			values[key] = strings.Join(words, ",")
			continue
		}
		if v := values[key]; !isScalar(v) {
			errs = append(errs, fmt.Errorf("configuration file %s: key %s holds a table or list: want one value", path, key))
			delete(values, key)
		}
	}
	return path, values, errors.Join(errs...)
}

// parseTOML reads a file as editors write it: Windows' own begin one with a mark of its encoding.
func parseTOML(b []byte) (map[string]any, error) {
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return nil, errors.New("it is UTF-16: save it as UTF-8")
	}
	return toml.Parser().Unmarshal(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
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

// An environ is what the variables say: values by option key.
type environ struct {
	values map[string]any
	files  map[string]secretFile // that values of secrets were read from, by option name
	empty  []Option              // secrets whose variable is there and empty
}

// readEnviron picks the host's variables out of all. A variable that is there and empty counts as not
// set: deployments that leave one out leave such. The file of a secret is read where wanted says so.
func readEnviron(all []string, options []Option, wanted func(Option) bool) (environ, error) {
	e := environ{values: map[string]any{}, files: map[string]secretFile{}}
	var errs []error
	for _, kv := range all {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, EnvPrefix) || slices.Contains(otherVariables, name) {
			continue
		}
		named := func(o Option) bool { return o.Env() == name || o.Secret && o.EnvFile() == name }
		i := slices.IndexFunc(options, named)
		if i < 0 && isServiceLink(name, value) {
			continue
		}
		if i < 0 {
			errs = append(errs, fmt.Errorf("environment: unknown variable %.60s%s", name, suggest(name, options, Option.Env)))
			continue
		}
		switch o := options[i]; {
		case value == "" && o.Secret && name == o.Env():
			e.empty = append(e.empty, o)
		case value == "":
		case name == o.Env():
			e.values[o.Key()] = value
		case wanted(o):
			e.files[o.Name] = secretFile{path: value}
		}
	}
	for _, o := range options {
		file, ok := e.files[o.Name]
		if !ok {
			continue
		}
		if _, ok := e.values[o.Key()]; ok {
			errs = append(errs, fmt.Errorf("environment: %s and %s are both set: keep one", o.Env(), o.EnvFile()))
			continue
		}
		text, err := readSecret(file.path)
		if err != nil {
			errs = append(errs, fmt.Errorf("environment: %s: %w", o.EnvFile(), err))
			continue
		}
		e.values[o.Key()], e.files[o.Name] = text, secretFile{file.path, secret.New(text)}
	}
	return e, errors.Join(errs...)
}

// serviceLink is the name of a variable that Kubernetes sets for each service in a
// namespace, and Docker for a link: those of a service whose name begins with parley are
// none of ours.
var serviceLink = regexp.MustCompile(`^PARLEY_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$`)

// isServiceLink reports whether a variable is one of those. PARLEY_PORT is one if it is an
// address, such as tcp://10.0.0.1:7700; a number is meant as the port to listen on.
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
