package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
)

// A Name is what stands between ${ and } in a text of the manifest: a setting or
// an option.
type Name struct {
	Name     string
	Optional bool // ${name?}: it may be unset
}

var errOpen = errors.New("it has a ${ that no name and } follow")

// Names lists the names in text, in their order.
func Names(text string) (all []Name, err error) {
	_, err = fillTemplate(text, func(n Name) (string, bool) {
		all = append(all, n)
		return "", true
	})
	return all, err
}

// Fill puts values in place of the names in text. An optional one that is not
// among them is empty; ok is false where another one is not.
func Fill(text string, values map[string]string) (filled string, ok bool) {
	filled, err := fillTemplate(text, func(n Name) (string, bool) {
		v := values[n.Name]
		return v, v != "" || n.Optional
	})
	return filled, err == nil
}

func fillTemplate(text string, value func(Name) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		bare, optional := strings.CutSuffix(name, "?")
		if !closed || !optionForm.MatchString(bare) {
			return "", errOpen
		}
		v, ok := value(Name{bare, optional})
		if !ok {
			return "", errOpen
		}
		b.WriteString(v)
		text = after
	}
}

// hostLabel is what an option may put into the name of a host.
var hostLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Origins are those of m's grants.http, with the values of options put into
// them. One whose options are unset, or no part of a host's name, is left out.
func Origins(m *abi.Manifest, values map[string]string) []string {
	if !strings.Contains(strings.ReplaceAll(strings.Join(m.Grants.HTTP, " "), abi.GrantBaseURL, ""), "${") {
		return m.Grants.HTTP
	}
	labels := map[string]string{}
	for name := range m.Options {
		if hostLabel.MatchString(values[name]) {
			labels[name] = values[name]
		}
	}
	var all []string
	for _, grant := range m.Grants.HTTP {
		if grant != abi.GrantBaseURL {
			filled, ok := Fill(grant, labels)
			if !ok {
				continue
			}
			grant = filled
		}
		all = append(all, grant)
	}
	return all
}

// fillJSON returns object with each of its strings, which stands at a path, made anew.
func fillJSON(object []byte, fill func(at, text string) (string, error)) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("it is not JSON")
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, errors.New("it is not an object")
	}
	var walk func(at string, v any) (any, error)
	walk = func(at string, v any) (_ any, err error) {
		switch v := v.(type) {
		case string:
			return fill(at, v)
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if v[name], err = walk(at+"."+name, v[name]); err != nil {
					return nil, err
				}
			}
		case []any:
			for i := range v {
				if v[i], err = walk(fmt.Sprintf("%s[%d]", at, i), v[i]); err != nil {
					return nil, err
				}
			}
		}
		return v, nil
	}
	v, err := walk("", v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// FillJSON is [Fill] for the strings of a JSON object.
func FillJSON(object []byte, values map[string]string) (filled []byte, ok bool) {
	filled, err := fillJSON(object, func(_, text string) (string, error) {
		s, ok := Fill(text, values)
		if !ok {
			return "", errOpen
		}
		return s, nil
	})
	return filled, err == nil
}
