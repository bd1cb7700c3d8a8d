package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
)

// Settings are what a client sets on an index.
type Settings struct {
	SearchableAttributes []string // in order of weight; ["*"]: all, in the order they were first seen
	FilterableAttributes []string // sorted
	DisplayedAttributes  []string // ["*"]: all
	Chat                 ChatSettings
}

// DefaultSettings are those of a new index.
func DefaultSettings() Settings {
	return Settings{
		SearchableAttributes: []string{"*"},
		FilterableAttributes: []string{},
		DisplayedAttributes:  []string{"*"},
		Chat:                 defaultChat(),
	}
}

// A setting is one line of the table of settings.
type setting struct {
	name  string // in JSON
	route string // in a path
	patch bool   // updated by PATCH, not PUT
	code  apierr.Code
	value func(*Settings) any
	// set reads a value that is not null over what s has.
	set   func(s *Settings, v json.RawMessage) error
	reset func(s, defaults *Settings)
}

// settingsTable lists all settings, in the order they are shown.
func settingsTable() []setting {
	return []setting{
		{
			name: "displayedAttributes", route: "displayed-attributes", code: apierr.InvalidSettingsDisplayed,
			value: func(s *Settings) any { return s.DisplayedAttributes },
			set:   func(s *Settings, v json.RawMessage) error { return setAttributes(&s.DisplayedAttributes, v, true) },
			reset: func(s, d *Settings) { s.DisplayedAttributes = d.DisplayedAttributes },
		},
		{
			name: "searchableAttributes", route: "searchable-attributes", code: apierr.InvalidSettingsSearchable,
			value: func(s *Settings) any { return s.SearchableAttributes },
			set:   func(s *Settings, v json.RawMessage) error { return setAttributes(&s.SearchableAttributes, v, true) },
			reset: func(s, d *Settings) { s.SearchableAttributes = d.SearchableAttributes },
		},
		{
			name: "filterableAttributes", route: "filterable-attributes", code: apierr.InvalidSettingsFilterable,
			value: func(s *Settings) any { return s.FilterableAttributes },
			set: func(s *Settings, v json.RawMessage) error {
				err := setAttributes(&s.FilterableAttributes, v, false)
				slices.Sort(s.FilterableAttributes)
				return err
			},
			reset: func(s, d *Settings) { s.FilterableAttributes = d.FilterableAttributes },
		},
		{
			name: "chat", route: "chat", patch: true, code: apierr.InvalidSettingsIndexChat,
			value: func(s *Settings) any { return s.Chat.wire() },
			set:   func(s *Settings, v json.RawMessage) error { return s.Chat.patch(v) },
			reset: func(s, d *Settings) { s.Chat = d.Chat },
		},
	}
}

// SettingRoutes lists the settings' names in a path, and whether PATCH (else
// PUT) updates them.
func SettingRoutes() map[string]bool {
	m := map[string]bool{}
	for _, st := range settingsTable() {
		m[st.route] = st.patch
	}
	return m
}

// MarshalJSON gives s as a client sees it, each setting present.
func (s Settings) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, st := range settingsTable() {
		if i > 0 {
			b.WriteByte(',')
		}
		v, err := json.Marshal(st.value(&s))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", st.name, v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON wrote; what is absent has its default.
func (s *Settings) UnmarshalJSON(b []byte) error {
	*s = DefaultSettings()
	return s.patch(b)
}

// Setting returns the value of one setting, by its name in a path; ok is false
// where there is none.
func (s Settings) Setting(route string) (v json.RawMessage, ok bool) {
	for _, st := range settingsTable() {
		if st.route == route {
			b, err := json.Marshal(st.value(&s))
			return b, err == nil
		}
	}
	return nil, false
}

// patch reads an object of settings over s: a value sets, null resets, what is
// absent stays. An error is an [apierr.Error]; s is of no use then.
func (s *Settings) patch(body []byte) error {
	if body = bytes.TrimSpace(body); !json.Valid(body) || body[0] != '{' {
		return apierr.Newf(apierr.BadRequest, "The settings must be a JSON object.")
	}
	table, defaults := settingsTable(), DefaultSettings()
	var err error
	eachMember(body, func(rawKey, v []byte) bool {
		key := unquote(rawKey)
		i := slices.IndexFunc(table, func(st setting) bool { return st.name == key })
		switch {
		case i < 0:
			err = apierr.Newf(apierr.BadRequest, "Unknown setting `%.100s`; known are %s.", key, settingNames())
		case v[0] == 'n':
			table[i].reset(s, &defaults)
		default:
			err = table[i].error(table[i].set(s, v))
		}
		return err == nil
	})
	return err
}

// error gives a mistake in the setting's value the setting's code.
func (st *setting) error(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*apierr.Error); ok {
		return e
	}
	return apierr.Newf(st.code, "Setting `%s`: %s.", st.name, err)
}

func settingNames() string {
	var names []string
	for _, st := range settingsTable() {
		names = append(names, st.name)
	}
	return strings.Join(names, ", ")
}

// setAttributes reads an array of attribute names. "*", where allowed, stands
// for all of them.
func setAttributes(dst *[]string, v json.RawMessage, star bool) error {
	if v[0] != '[' {
		return fmt.Errorf("it is %s; expected an array of attribute names, or null", jsonType(v))
	}
	list := []string{}
	var err error
	eachElement(v, func(_ int, e []byte) bool {
		if e[0] != '"' {
			err = fmt.Errorf("element %d is %s; expected an attribute name", len(list), jsonType(e))
			return false
		}
		name := unquote(e)
		switch {
		case name == "":
			err = fmt.Errorf("element %d is empty; expected an attribute name", len(list))
		case !star && strings.Contains(name, "*"):
			err = fmt.Errorf("element %d is `%.100s`; name each attribute, patterns are not taken here", len(list), name)
		case name != "*" && strings.Contains(name, "*"):
			err = fmt.Errorf("element %d is `%.100s`; the only pattern is \"*\", for all attributes", len(list), name)
		case !slices.Contains(list, name):
			list = append(list, name)
		}
		return err == nil
	})
	if err == nil && slices.Contains(list, "*") {
		list = []string{"*"}
	}
	*dst = list
	return err
}

// filterable reports whether a filter may ask about attr.
func (s *Settings) filterable(attr string) bool {
	return coveredBy(s.FilterableAttributes, attr)
}

// displayed is the selection of the displayed attributes.
func (s *Settings) displayed() *selection { return newSelection(s.DisplayedAttributes) }

// searchable reports whether the field path is searched.
func (s *Settings) searchable(path string) bool {
	return slices.Contains(s.SearchableAttributes, "*") || coveredBy(s.SearchableAttributes, path)
}
