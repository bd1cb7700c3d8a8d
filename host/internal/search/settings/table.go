package settings

import (
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
)

// A setting is one line of the table of settings.
type setting struct {
	name  string // in JSON
	route string // in a path
	patch bool   // updated by PATCH, not PUT
	code  apierr.Code
	shown func(*Settings) any // as a client sees it
	kept  func(*Settings) any // as our record has it; nil: as it is shown
	// read reads a value that is not null over what s has.
	read  func(s *Settings, v value) error
	reset func(s, defaults *Settings)
	check func(*Settings) error // what no single value shows to be wrong; may be nil
}

// ChatSetting is the name of the setting that needs the feature chatCompletions.
const ChatSetting = "chat"

// settingsTable lists all settings, in the order they are shown.
func settingsTable() []setting {
	return []setting{
		of("displayedAttributes", "displayed-attributes", indexerr.InvalidSettingsDisplayed,
			func(s *Settings) *[]string { return &s.DisplayedAttributes }, readStarred),
		of("searchableAttributes", "searchable-attributes", indexerr.InvalidSettingsSearchable,
			func(s *Settings) *[]string { return &s.SearchableAttributes }, readStarred),
		of("filterableAttributes", "filterable-attributes", indexerr.InvalidSettingsFilterable,
			func(s *Settings) *[]FilterableRule { return &s.FilterableAttributes }, readFilterable),
		of("sortableAttributes", "sortable-attributes", indexerr.InvalidSettingsSortable,
			func(s *Settings) *[]string { return &s.SortableAttributes }, readSortable),
		of("rankingRules", "ranking-rules", indexerr.InvalidSettingsRankingRules,
			func(s *Settings) *[]RankingRule { return &s.RankingRules }, readRankingRules),
		of("stopWords", "stop-words", indexerr.InvalidSettingsStopWords,
			func(s *Settings) *[]string { return &s.StopWords }, readSet("words")),
		of("nonSeparatorTokens", "non-separator-tokens", indexerr.InvalidSettingsNonSeparators,
			func(s *Settings) *[]string { return &s.NonSeparatorTokens }, readSet("tokens")),
		of("separatorTokens", "separator-tokens", indexerr.InvalidSettingsSeparators,
			func(s *Settings) *[]string { return &s.SeparatorTokens }, readSet("tokens")),
		of("dictionary", "dictionary", indexerr.InvalidSettingsDictionary,
			func(s *Settings) *[]string { return &s.Dictionary }, readSet("words")),
		of("synonyms", "synonyms", indexerr.InvalidSettingsSynonyms,
			func(s *Settings) *map[string][]string { return &s.Synonyms }, readSynonyms),
		of("distinctAttribute", "distinct-attribute", indexerr.InvalidSettingsDistinct,
			func(s *Settings) *string { return &s.DistinctAttribute }, readAttribute).
			show(func(s *Settings) any { return OrNull(s.DistinctAttribute) }),
		of("proximityPrecision", "proximity-precision", indexerr.InvalidSettingsProximity,
			func(s *Settings) *ProximityPrecision { return &s.ProximityPrecision },
			func(v value, p *ProximityPrecision) error { return choice(v, p, ByWord, ByAttribute) }),
		of("typoTolerance", "typo-tolerance", indexerr.InvalidSettingsTypos,
			func(s *Settings) *TypoTolerance { return &s.TypoTolerance }, readTypoTolerance).
			show(func(s *Settings) any { return s.TypoTolerance.wire() }).patched().
			checked(func(s *Settings) error { return s.TypoTolerance.check() }),
		of("faceting", "faceting", indexerr.InvalidSettingsFaceting,
			func(s *Settings) *Faceting { return &s.Faceting }, readFaceting).
			show(func(s *Settings) any { return s.Faceting.wire() }).patched(),
		of("pagination", "pagination", indexerr.InvalidSettingsPagination,
			func(s *Settings) *Pagination { return &s.Pagination }, readPagination).
			show(func(s *Settings) any { return s.Pagination.wire() }).patched(),
		embeddersSetting(),
		of("searchCutoffMs", "search-cutoff-ms", indexerr.InvalidSettingsCutoff,
			func(s *Settings) **time.Duration { return &s.SearchCutoff }, readCutoff).
			show(func(s *Settings) any { return milliseconds(s.SearchCutoff) }),
		of("localizedAttributes", "localized-attributes", indexerr.InvalidSettingsLocalized,
			func(s *Settings) *[]LocalizedRule { return &s.LocalizedAttributes }, readLocalized).
			show(func(s *Settings) any { return wireLocalized(s.LocalizedAttributes) }),
		of("facetSearch", "facet-search", indexerr.InvalidSettingsFacetSearch,
			func(s *Settings) *bool { return &s.FacetSearch }, value.boolean),
		of("prefixSearch", "prefix-search", indexerr.InvalidSettingsPrefixSearch,
			func(s *Settings) *PrefixSearch { return &s.PrefixSearch },
			func(v value, p *PrefixSearch) error { return choice(v, p, PrefixIndexing, PrefixDisabled) }),
		of(ChatSetting, "chat", indexerr.InvalidSettingsIndexChat,
			func(s *Settings) *ChatSettings { return &s.Chat }, func(v value, c *ChatSettings) error { return c.patch(v) }).
			show(func(s *Settings) any { return s.Chat.wire() }).patched(),
	}
}

// of makes the line of a setting that lives in one field and is shown as it is.
func of[T any](name, route string, code apierr.Code, field func(*Settings) *T, read func(value, *T) error) setting {
	return setting{
		name: name, route: route, code: code,
		shown: func(s *Settings) any { return *field(s) },
		read:  func(s *Settings, v value) error { return read(v, field(s)) },
		reset: func(s, d *Settings) { *field(s) = *field(d) },
	}
}

func (st setting) show(as func(*Settings) any) setting     { st.shown = as; return st }
func (st setting) patched() setting                        { st.patch = true; return st }
func (st setting) checked(f func(*Settings) error) setting { st.check = f; return st }

func readSet(what string) func(value, *[]string) error {
	return func(v value, dst *[]string) error { return v.set(dst, what) }
}

// SettingAt is the name of the setting that is called route in a path.
func SettingAt(route string) (name string, ok bool) {
	for _, st := range settingsTable() {
		if st.route == route {
			return st.name, true
		}
	}
	return "", false
}

// NameByte reports whether c may be in an index's uid or a document's id.
func NameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// OrNull is s, or nil where it is empty.
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
