// Package settings has the settings of an index, typed: how they are read from what
// a client sends, checked against each other, shown, and kept.
//
// [Settings] is what all other packages read. The table in table.go has a line
// for each setting: its names, its error code, how it is read, shown and checked.
// To add a setting, add its field, its line there, and a reader beside those of its
// kind; readers of JSON values are in value.go. What settings mean for others is
// here, too: the [folder.Schema] that they ask for ([SchemaOf]), the criteria that
// hits are ordered by ([Settings.Rules]), and the text that an embedder or a model
// reads of a document ([Renderer]).
//
// Keys and headers of embedders are kept sealed: [SealSecrets], [SealedText.Open].
package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// Settings are what a client sets on an index. What is read of it is never
// changed in place: a patch puts new lists and maps.
type Settings struct {
	DisplayedAttributes  []string // ["*"]: all
	SearchableAttributes []string // in order of weight; ["*"]: all, in the order they were first seen
	FilterableAttributes []FilterableRule
	SortableAttributes   []string // sorted
	RankingRules         []RankingRule
	StopWords            []string // sorted, as they were written
	NonSeparatorTokens   []string // sorted
	SeparatorTokens      []string // sorted
	Dictionary           []string // sorted
	Synonyms             map[string][]string
	DistinctAttribute    string // "": none
	ProximityPrecision   ProximityPrecision
	TypoTolerance        TypoTolerance
	Faceting             Faceting
	Pagination           Pagination
	Embedders            map[string]Embedder
	// SearchCutoff bounds one search; nil: the service's default.
	SearchCutoff        *time.Duration
	LocalizedAttributes []LocalizedRule // nil: none
	FacetSearch         bool
	PrefixSearch        PrefixSearch
	Chat                ChatSettings
}

// DefaultSettings are those of a new index.
func DefaultSettings() Settings {
	return Settings{
		DisplayedAttributes:  []string{"*"},
		SearchableAttributes: []string{"*"},
		FilterableAttributes: []FilterableRule{},
		SortableAttributes:   []string{},
		RankingRules:         defaultRankingRules(),
		StopWords:            []string{},
		NonSeparatorTokens:   []string{},
		SeparatorTokens:      []string{},
		Dictionary:           []string{},
		Synonyms:             map[string][]string{},
		ProximityPrecision:   ByWord,
		TypoTolerance:        defaultTypoTolerance(),
		Faceting:             DefaultFaceting(),
		Pagination:           Pagination{MaxTotalHits: defaultMaxTotalHits},
		Embedders:            map[string]Embedder{},
		FacetSearch:          true,
		PrefixSearch:         PrefixIndexing,
		Chat:                 defaultChat(),
	}
}

// MarshalJSON gives s as a client sees it, each setting present and no secret
// in it.
func (s Settings) MarshalJSON() ([]byte, error) {
	return s.marshal(func(st *setting) any { return st.shown(&s) })
}

// Kept is s as our own record has it.
func (s *Settings) Kept() ([]byte, error) {
	return s.marshal(func(st *setting) any {
		if st.kept != nil {
			return st.kept(s)
		}
		return st.shown(s)
	})
}

// Shown is s as a client sees it while the features on are on.
func (s Settings) Shown(on feature.Set) (json.RawMessage, error) {
	return s.marshal(func(st *setting) any {
		if st.name == ChatSetting && !on.ChatCompletions {
			return omitted
		}
		return st.shown(&s)
	})
}

// omitted is the form of a setting that is left out.
var omitted = new(struct{ _ byte })

// marshal writes the settings in the form that form gives them.
func (s *Settings) marshal(form func(*setting) any) ([]byte, error) {
	var b bytes.Buffer
	sep := '{'
	for _, st := range settingsTable() {
		shown := form(&st)
		if shown == any(omitted) {
			continue
		}
		v, err := json.Marshal(shown)
		if err != nil {
			return nil, fmt.Errorf("encode setting %s: %w", st.name, err)
		}
		fmt.Fprintf(&b, "%c%q:%s", sep, st.name, v)
		sep = ','
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what kept wrote; what is absent has its default.
func (s *Settings) UnmarshalJSON(b []byte) error {
	*s = DefaultSettings()
	return s.Patch(b, true)
}

// Setting returns the value of one setting, by its name in a path; ok is false
// where there is none.
func (s Settings) Setting(route string) (v json.RawMessage, ok bool) {
	for _, st := range settingsTable() {
		if st.route == route {
			b, err := json.Marshal(st.shown(&s))
			return b, err == nil
		}
	}
	return nil, false
}

// Patch reads an object of settings over s: a value sets, null resets, what is
// absent stays. kept: the body is our own, not a client's. An error is an
// [apierr.Error]; s is of no use then.
func (s *Settings) Patch(body []byte, kept bool) error {
	if body = bytes.TrimSpace(body); !json.Valid(body) || body[0] != '{' {
		return apierr.Newf(apierr.BadRequest, "The settings must be a JSON object.")
	}
	table, defaults := settingsTable(), DefaultSettings()
	return badRequest(value{"", body, kept}.members(func(key string, v value) error {
		i := slices.IndexFunc(table, func(st setting) bool { return st.name == key })
		switch {
		case i < 0:
			return foreignSetting(key, v)
		case v.null():
			table[i].reset(s, &defaults)
			return nil
		}
		return table[i].error(table[i].read(s, v))
	}))
}

// foreignSettings are those of Meilisearch that this host has not: what they do, and
// the value that does nothing, as null does. Empty: no value changes an answer.
var foreignSettings = map[string]struct{ about, nothing string }{
	"foreignKeys": {"documents are not joined with those of other indexes", "[]"},
	"vectorStore": {}, // how vectors are laid out
}

// foreignSetting checks a setting that this host does not have. One of Meilisearch's
// is ignored where its value changes nothing; all else is an error.
func foreignSetting(name string, v value) error {
	foreign, ok := foreignSettings[name]
	switch {
	case !ok:
		return apierr.Unknown("setting", name, name, SettingNames())
	case v.null(), foreign.nothing == "", string(rawjson.AppendCompact(nil, v.raw)) == foreign.nothing:
		return nil
	}
	return apierr.Newf(apierr.BadRequest, "The setting `%s` is not offered: %s. Leave it out.", name, foreign.about)
}

// Apply patches s with what a task kept, and checks the whole.
func (s *Settings) Apply(body []byte) error {
	if err := s.Patch(body, true); err != nil {
		return err
	}
	return s.check()
}

// check finds what is wrong between values that are right each for itself:
// values that a patch names and values that were there before it. An error is
// an [apierr.Error].
func (s *Settings) check() error {
	for _, st := range settingsTable() {
		if st.check != nil {
			if err := st.error(st.check(s)); err != nil {
				return err
			}
		}
	}
	return nil
}

// error gives a mistake in the setting's value the setting's code.
func (st *setting) error(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*apierr.Error); ok {
		return e
	}
	return apierr.Newf(st.code, "%s", EndSentence(err.Error()))
}

// badRequest makes an error that is none of ours yet one of the body.
func badRequest(err error) error {
	if _, ok := err.(*apierr.Error); ok || err == nil {
		return err
	}
	return apierr.Newf(apierr.BadRequest, "%s", EndSentence(err.Error()))
}

// EndSentence returns s with a full stop, unless it ends with a question mark.
func EndSentence(s string) string {
	if strings.HasSuffix(s, "?") {
		return s
	}
	return strings.TrimRight(s, ".") + "."
}

func SettingNames() []string {
	var names []string
	for _, st := range settingsTable() {
		names = append(names, st.name)
	}
	return names
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
