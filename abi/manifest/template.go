package manifest

import (
	"errors"
	"regexp"
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
