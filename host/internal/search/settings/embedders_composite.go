package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/base/feature"
)

// The names of a composite embedder's two, in settings and in errors.
const (
	searchingPart = "searchEmbedder"
	indexingPart  = "indexingEmbedder"
)

// ForDocuments returns the embedder that makes the vectors of documents, and
// what it is called: e itself, or one of its two.
func (e *Embedder) ForDocuments(name string) (*Embedder, string) {
	if e.Source == Composite {
		return e.Indexing, name + "." + indexingPart
	}
	return e, name
}

// ForQueries is [Embedder.ForDocuments] for the vectors of queries.
func (e *Embedder) ForQueries(name string) (*Embedder, string) {
	if e.Source == Composite {
		return e.Searching, name + "." + searchingPart
	}
	return e, name
}

// Makes reports whether vectors of e are made by an API.
func (e *Embedder) Makes() bool { return e.asks() || e.Source == Composite }

// asks reports whether e itself asks an API.
func (e *Embedder) asks() bool { return e.Source == Rest || e.Plugged() }

// VectorDimensions is how many numbers each vector has, 0 where the settings leave it
// to the first one. Of two embedders one may say it for both.
func (e *Embedder) VectorDimensions() int {
	if e.Source == Composite {
		return cmp.Or(e.Indexing.API().Dimensions, e.Searching.API().Dimensions)
	}
	return e.API().Dimensions
}

// partReader reads one of a composite's two over dst, without the fields that
// say nothing there.
func partReader(dst **Embedder, without ...string) fieldReader {
	return orDefault(dst, nil, func(v value, dst **Embedder) error {
		e := newEmbedder()
		if *dst != nil {
			e = **dst
		}
		known := e.restReaders()
		for _, name := range without {
			delete(known, name)
		}
		err := e.patchBy(v, known)
		*dst = &e
		return err
	})
}

func (e *Embedder) checkComposite(path string) error {
	if err := e.checkOnly(path, "whose two embedders have fields of their own", searchingPart, indexingPart); err != nil {
		return err
	}
	for _, p := range []struct {
		name, makes string
		embedder    *Embedder
	}{{searchingPart, "queries", e.Searching}, {indexingPart, "documents", e.Indexing}} {
		if p.embedder == nil {
			return missing(path, p.name, "send the embedder that makes the vectors of "+p.makes)
		}
		if p.embedder.Source == "" {
			return missing(path, p.name+".source", `send "openAi", "ollama", "rest", or another source whose plugin makes vectors`)
		}
		check := p.embedder.checkRest
		if p.embedder.Plugged() {
			check = p.embedder.checkPlugged
		} else if p.embedder.Model != "" {
			return p.embedder.checkOnly(path+"."+p.name, "whose `request` says what is sent", restFields()...)
		}
		if err := check(path + "." + p.name); err != nil {
			return err
		}
	}
	if a, b := e.Searching.API().Dimensions, e.Indexing.API().Dimensions; a != 0 && b != 0 && a != b {
		return fmt.Errorf("`%s.%s.dimensions` is %d, but `%s.%s.dimensions` is %d: vectors of queries and of documents must have as many numbers", path, searchingPart, a, path, indexingPart, b)
	}
	return nil
}

// CheckFeatures refuses what a client sent, read over the defaults, where it
// needs a feature that is off. What was set while it was on stays and works.
func (s *Settings) CheckFeatures(on feature.Set) error {
	for _, name := range slices.Sorted(maps.Keys(s.Embedders)) {
		e := s.Embedders[name]
		if (e.Source == Composite || e.Searching != nil || e.Indexing != nil) && !on.CompositeEmbedders {
			return feature.Off(feature.CompositeEmbedders, fmt.Sprintf("`embedders.%.100s` with the source %q", name, Composite))
		}
		for _, part := range []*Embedder{&e, e.Searching, e.Indexing} {
			if part != nil && part.Fragmented() && !on.Multimodal {
				return feature.Off(feature.Multimodal, fmt.Sprintf("`embedders.%.100s` with fragments", name))
			}
		}
	}
	return nil
}
