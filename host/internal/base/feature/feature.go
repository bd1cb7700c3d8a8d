// Package feature keeps the switches of what is experimental, or what an
// operator may want off: they turn while the host runs, and stay as they are
// over a restart.
package feature

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// A Feature is something that can be switched, by its name on the wire.
type Feature string

// The features. One is here only where its switch does something.
const (
	Metrics            Feature = "metrics"               // GET /metrics
	LogsRoute          Feature = "logsRoute"             // POST /logs/stderr and /logs/stream
	ContainsFilter     Feature = "containsFilter"        // CONTAINS and STARTS WITH in filters
	CompositeEmbedders Feature = "compositeEmbedders"    // setting an embedder of the source composite
	Multimodal         Feature = "multimodal"            // setting fragments of embedders, and searches with media
	Network            Feature = "network"               // GET and PATCH /network, and searches on remotes
	ChatCompletions    Feature = "chatCompletions"       // the routes below /chats
	MCP                Feature = "mcp"                   // POST /mcp
	RenderRoute        Feature = "renderRoute"           // POST /render-template
	Feedback           Feature = "feedback"              // POST /chats/:uid/feedback, and reading what was sent
	TaskDocuments      Feature = "getTaskDocumentsRoute" // GET /tasks/:uid/documents
)

// A trait is what the table knows of a feature.
type trait struct {
	feature Feature
	on      bool   // by default
	says    string // what it lets do, for errors
	at      func(*Set) *bool
}

var traits = []trait{
	{Metrics, false, "reading metrics", func(s *Set) *bool { return &s.Metrics }},
	{LogsRoute, false, "setting the log's level and streaming the log", func(s *Set) *bool { return &s.LogsRoute }},
	{ContainsFilter, false, "CONTAINS and STARTS WITH in a filter", func(s *Set) *bool { return &s.ContainsFilter }},
	{CompositeEmbedders, false, "an embedder made of two", func(s *Set) *bool { return &s.CompositeEmbedders }},
	{Multimodal, false, "fragments of embedders, and searches with media,", func(s *Set) *bool { return &s.Multimodal }},
	{Network, false, "the network of remotes", func(s *Set) *bool { return &s.Network }},
	{ChatCompletions, true, "conversations", func(s *Set) *bool { return &s.ChatCompletions }},
	{MCP, true, "the Model Context Protocol", func(s *Set) *bool { return &s.MCP }},
	{RenderRoute, true, "rendering a template", func(s *Set) *bool { return &s.RenderRoute }},
	{Feedback, false, "rating answers", func(s *Set) *bool { return &s.Feedback }},
	{TaskDocuments, false, "reading the documents of a task", func(s *Set) *bool { return &s.TaskDocuments }},
}

// absent are features of other products that clients may ask for, and why
// they are not here.
func absent() map[string]string {
	return map[string]string{
		"editDocumentsByFunction": "it runs a script over documents, and there is no script language here; send the documents changed, by PUT /indexes/{uid}/documents",
		"vectorStore":             "it is always on: see the setting `embedders`",
		"dynamicSearchRules":      "documents are not pinned to queries; the ranking rules decide",
		"foreignKeys":             "documents are not joined with those of other indexes",
	}
}

// A Set says which features are on.
type Set struct {
	Metrics            bool
	LogsRoute          bool
	ContainsFilter     bool
	CompositeEmbedders bool
	Multimodal         bool
	Network            bool
	ChatCompletions    bool
	MCP                bool
	RenderRoute        bool
	Feedback           bool
	TaskDocuments      bool
}

// Default is the Set of a host where nothing was switched.
func Default() Set {
	var s Set
	for _, t := range traits {
		*t.at(&s) = t.on
	}
	return s
}

// On reports whether f is on.
func (s Set) On(f Feature) bool {
	for _, t := range traits {
		if t.feature == f {
			return *t.at(&s)
		}
	}
	panic("feature: no feature " + string(f))
}

// Each calls f for every feature, in the order they are shown.
func (s Set) Each(f func(name Feature, on bool)) {
	for _, t := range traits {
		f(t.feature, *t.at(&s))
	}
}

// A Store keeps what was switched. Safe for concurrent use. See package store.
type Store interface {
	// Features returns what PutFeatures stored last, nothing before that.
	Features(ctx context.Context) (map[string]bool, error)
	PutFeatures(ctx context.Context, on map[string]bool) error
}

// A Service knows which features are on. Safe for concurrent use.
type Service struct {
	store Store
	on    []Feature // at launch
	now   atomic.Pointer[Set]

	mu       sync.Mutex // held while switching
	switched map[string]bool
}

// Open returns the features as they were switched last. Those of on, which are
// named at launch, are on whatever was switched before.
func Open(ctx context.Context, store Store, on ...Feature) (*Service, error) {
	s := &Service{store: store, on: on}
	return s, s.ReadFeatures(ctx)
}

// ReadFeatures reads again what is on, after another node has switched a feature.
func (s *Service) ReadFeatures(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switched, err := s.store.Features(ctx)
	if err != nil {
		return fmt.Errorf("read features: %w", err)
	}
	s.switched = map[string]bool{}
	set := Default()
	for _, t := range traits {
		if v, ok := switched[string(t.feature)]; ok {
			*t.at(&set) = v
			s.switched[string(t.feature)] = v
		}
		if slices.Contains(s.on, t.feature) {
			*t.at(&set) = true
		}
	}
	s.now.Store(&set)
	return nil
}

// Now returns which features are on.
func (s *Service) Now() Set { return *s.now.Load() }

// Patch switches the features that are named, and returns all. An error is an
// [apierr.Error], or one of the store: nothing is switched then, unless it says
// that a feature of another product is not offered here; the others are switched
// before that. Such a feature may be switched off.
func (s *Service) Patch(ctx context.Context, named map[string]bool) (Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set, switched := s.Now(), maps.Clone(s.switched)
	var refused []string
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if why, ok := absent()[name]; ok {
			if named[name] {
				refused = append(refused, fmt.Sprintf("The feature `%s` is not offered: %s.", name, why))
			}
			continue
		}
		i := slices.IndexFunc(traits, func(t trait) bool { return string(t.feature) == name })
		if i < 0 {
			return s.Now(), unknown(name)
		}
		*traits[i].at(&set) = named[name]
		switched[name] = named[name]
	}
	if err := s.store.PutFeatures(ctx, switched); err != nil {
		return s.Now(), fmt.Errorf("store features: %w", err)
	}
	s.switched = switched
	s.now.Store(&set)
	if len(refused) > 0 {
		if len(named) > len(refused) {
			refused = append(refused, "The others were switched.")
		}
		return set, apierr.Newf(apierr.BadRequest, "%s", strings.Join(refused, " "))
	}
	return set, nil
}

func unknown(name string) error {
	var known []string
	for _, t := range traits {
		known = append(known, string(t.feature))
	}
	return apierr.Unknown("feature", name, name, known)
}

// Require returns [apierr.FeatureNotEnabled] where f is off. what is refused
// then, as the subject of a sentence; empty: what the feature is about.
func (s *Service) Require(f Feature, what string) error {
	if s.Now().On(f) {
		return nil
	}
	return Off(f, what)
}

// Off is the error for what needs f while f is off; see [Service.Require].
func Off(f Feature, what string) *apierr.Error {
	if what == "" {
		i := slices.IndexFunc(traits, func(t trait) bool { return t.feature == f })
		what = traits[i].says
	}
	return apierr.Newf(apierr.FeatureNotEnabled, "%s needs the feature `%s`, which is off: switch it on by PATCH /experimental-features with {\"%s\": true}.",
		strings.ToUpper(what[:1])+what[1:], f, f)
}
