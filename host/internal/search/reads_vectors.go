package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// addVectors adds to documents, which are objects that were made for a client,
// what the ids' documents have of vectors: an object by embedder, even an empty
// one.
func (s *Service) addVectors(m *index.Meta, loan *memory.Loan, ids []string, docs []json.RawMessage) error {
	for first := 0; first < len(ids); first += readAtOnce {
		end := min(first+readAtOnce, len(ids))
		if err := s.addVectorsOf(m, loan, ids[first:end], docs[first:end]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) addVectorsOf(m *index.Meta, loan *memory.Loan, ids []string, docs []json.RawMessage) error {
	all := make([][]byte, len(ids))
	for i := range all {
		all[i] = []byte{'{'}
	}
	for _, name := range slices.Sorted(maps.Keys(m.VectorSets)) {
		kept, err := s.opts.DB.Vectors(m.Docs, m.VectorSets[name].ID, ids)
		if err != nil {
			return fmt.Errorf("read vectors: %w", err)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return fmt.Errorf("encode name of embedder: %w", err)
		}
		for i, b := range kept {
			if b == nil {
				continue
			}
			v, err := vector.Decode(b)
			if err != nil {
				return fmt.Errorf("read vectors of document %q: %w", ids[i], err)
			}
			if len(all[i]) > 1 {
				all[i] = append(all[i], ',')
			}
			all[i] = v.AppendJSON(append(append(all[i], key...), ':'))
		}
	}
	for i := range docs {
		if err := loan.TakeAnswer(len(all[i])); err != nil {
			return err
		}
		docs[i] = withMember(docs[i], vector.Field, append(all[i], '}'))
	}
	return nil
}

// showVectors is addVectors for hits.
func (s *Service) showVectors(m *index.Meta, loan *memory.Loan, hits []Hit) error {
	ids, docs := make([]string, len(hits)), make([]json.RawMessage, len(hits))
	for i := range hits {
		ids[i], docs[i] = hits[i].ID, hits[i].Document
	}
	if err := s.addVectors(m, loan, ids, docs); err != nil {
		return err
	}
	for i := range hits {
		hits[i].Document = docs[i]
	}
	return nil
}

// withMember returns an object with one more member. Neither name nor value is
// looked into.
func withMember(object []byte, name string, value []byte) []byte {
	end := len(object) - 1
	for object[end] != '}' {
		end--
	}
	out := append(make([]byte, 0, len(object)+len(name)+len(value)+4), object[:end]...)
	if len(bytes.TrimSpace(object[bytes.IndexByte(object, '{')+1:end])) > 0 {
		out = append(out, ',')
	}
	out = append(append(append(append(out, '"'), name...), `":`...), value...)
	return append(out, '}')
}
