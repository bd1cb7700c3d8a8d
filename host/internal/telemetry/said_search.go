package telemetry

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// lists are the parameters of a search that are lists of texts in a URL.
var lists = []string{
	"facets", "sort", "attributesToRetrieve", "attributesToHighlight", "attributesToCrop", "attributesToSearchOn", "locales", "vector",
}

// SaidByURL is what a search by URL says: lists are parts between commas.
func SaidByURL(parameters map[string]string) Said {
	s := Said{}
	for name, v := range parameters {
		switch {
		case slices.Contains(lists, name):
			b, _ := json.Marshal(strings.Split(v, ",")) // texts can be written
			s[name] = b
		case v == "true" || v == "false":
			s[name] = json.RawMessage(v)
		default:
			if _, err := strconv.ParseFloat(v, 64); err == nil && json.Valid([]byte(v)) {
				s[name] = json.RawMessage(v)
				continue
			}
			b, _ := json.Marshal(v)
			s[name] = b
		}
	}
	return s
}

// Search is what is known of a search by its request alone.
func (s Said) Search() event.Search {
	e := event.Search{
		Sort: s.maybeEntries("sort"), FilterSyntax: filterSyntax(s["filter"]),
		FilterGeoRadius: s.filterHas("_geoRadius"), FilterGeoBoundingBox: s.filterHas("_geoBoundingBox"),
		Terms:                event.CountOf(len(strings.Fields(s.text("q")))),
		AttributesToRetrieve: s.entryCount("attributesToRetrieve"), AttributesToHighlight: s.entryCount("attributesToHighlight"),
		HighlightPreTag: s.flag("highlightPreTag"), HighlightPostTag: s.flag("highlightPostTag"),
		AttributesToCrop: s.entryCount("attributesToCrop"), CropLength: s.flag("cropLength"), CropMarker: s.flag("cropMarker"),
		ShowMatchesPosition: s.truth("showMatchesPosition"), Facets: s.maybeEntries("facets"),
		MatchingStrategy: strategy(s.text("matchingStrategy")), Distinct: s.flag("distinct"),
		ShowRankingScore: s.truth("showRankingScore"), ShowRankingDetails: s.truth("showRankingScoreDetails"),
		RankingScoreThreshold: s.flag("rankingScoreThreshold"), AttributesToSearchOn: s.flag("attributesToSearchOn"),
		VectorDimensions: s.entryCount("vector"), RetrieveVectors: s.truth("retrieveVectors"),
		Hybrid: s.flag("hybrid"), SemanticRatio: event.FlagOf(s.object("hybrid").given("semanticRatio") || s.given("hybridSemanticRatio")),
		Media: s.flag("media"), Locales: localesOf(s.texts("locales")),
	}
	if s.given("hybridEmbedder") {
		e.Hybrid = 1 // as a URL has it
	}
	for _, criterion := range s.texts("sort") {
		if strings.HasPrefix(criterion, "_geoPoint") {
			e.SortGeoPoint = 1
		}
	}
	s.pages(&e)
	return e
}

// pages tells how results are paged through, and how far. 20 is the API's
// default for what is not given.
func (s Said) pages(e *event.Search) {
	if !s.given("page") && !s.given("hitsPerPage") {
		e.Navigation, e.Limit, e.Offset = event.Estimated, s.count("limit"), s.count("offset")
		if !s.given("limit") {
			e.Limit = 20
		}
		return
	}
	e.Navigation, e.Limit = event.Exhaustive, s.count("hitsPerPage")
	if !s.given("hitsPerPage") {
		e.Limit = 20
	}
	if page := s.count("page"); page > 1 && uint64(page) < 1<<32 && uint64(e.Limit) < 1<<20 {
		e.Offset = event.CountOf(uint64(page-1) * uint64(e.Limit))
	}
}

func strategy(name string) event.MatchingStrategy {
	if name == "" {
		return event.MatchLast
	}
	return event.OrdinalOf[event.MatchingStrategy](name)
}

func (s Said) filterHas(function string) event.Flag {
	return event.FlagOf(bytes.Contains(s["filter"], []byte(function+"(")))
}

// filterSyntax tells how a filter is written. 0: there is none.
func filterSyntax(filter json.RawMessage) event.FilterSyntax {
	filter = bytes.TrimSpace(filter)
	switch {
	case bytes.HasPrefix(filter, []byte(`"`)):
		return event.FilterString
	case !bytes.HasPrefix(filter, []byte("[")):
		return 0
	}
	var list []json.RawMessage
	if json.Unmarshal(filter, &list) != nil {
		return 0
	}
	for _, entry := range list {
		if entry = bytes.TrimSpace(entry); entry[0] == '[' || bytes.Contains(entry, []byte(" AND ")) || bytes.Contains(entry, []byte(" OR ")) {
			return event.FilterMixed
		}
	}
	return event.FilterArray
}

// FacetSearch is what is known of a facet search by its request alone.
func (s Said) FacetSearch() (e event.FacetSearch) {
	for name := range s {
		if name != "facetName" && name != "facetQuery" && s.given(name) {
			e.AdditionalParameters = 1
		}
	}
	return e
}

// MultiSearch is what is known of a multi-search by its request alone.
func (s Said) MultiSearch() event.MultiSearch {
	e := event.MultiSearch{Federation: s.flag("federation")}
	var queries []Said
	_ = json.Unmarshal(s["queries"], &queries)
	indexes, remotes := map[string]bool{}, map[string]bool{}
	for _, q := range queries {
		indexes[q.text("indexUid")] = true
		if remote := q.object("federationOptions").text("remote"); remote != "" {
			remotes[remote] = true
		}
		e.ShowRankingScore |= q.truth("showRankingScore")
		e.ShowRankingDetails |= q.truth("showRankingScoreDetails")
	}
	e.Queries, e.Indexes, e.Remotes = event.CountOf(len(queries)), event.CountOf(len(indexes)), event.CountOf(len(remotes))
	return e
}

// Export is what an export says.
func (s Said) Export() event.Export {
	e := event.Export{APIKey: s.flag("apiKey"), IndexPatterns: s.entryCount("indexes")}
	var patterns map[string]Said
	_ = json.Unmarshal(s["indexes"], &patterns)
	for _, p := range patterns {
		if p.given("filter") {
			e.PatternsWithFilter++
		}
	}
	if n, ok := parseSize(s["payloadSize"]); ok {
		e.PayloadSize = event.MaybeCountOf(n)
	}
	return e
}

// parseSize reads a number of bytes, or a text such as "50 MiB".
func parseSize(v json.RawMessage) (uint64, bool) {
	var n uint64
	if !rawjson.IsAbsent(v) && json.Unmarshal(v, &n) == nil {
		return n, true
	}
	var text string
	if rawjson.IsAbsent(v) || json.Unmarshal(v, &text) != nil {
		return 0, false
	}
	n, err := humanize.ParseBytes(text)
	return n, err == nil && n <= event.MaxCount
}
