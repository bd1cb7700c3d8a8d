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

// withVectors returns a document, an object that was made for a client, with what the
// document of that id has of vectors: an object by embedder, even an empty one.
func (s *Service) withVectors(m *index.Meta, loan *memory.Loan, id string, doc []byte) ([]byte, error) {
	all := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(m.VectorSets)) {
		kept, err := s.opts.DB.Vectors(m.Docs, m.VectorSets[name].ID, []string{id})
		if err != nil {
			return nil, fmt.Errorf("read vectors: %w", err)
		}
		if kept[0] == nil {
			continue
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("encode name of embedder: %w", err)
		}
		v, err := vector.Decode(kept[0])
		if err != nil {
			return nil, fmt.Errorf("read vectors of document %q: %w", id, err)
		}
		if len(all) > 1 {
			all = append(all, ',')
		}
		all = v.AppendJSON(append(append(all, key...), ':'))
	}
	if err := loan.TakeAnswer(len(all)); err != nil {
		return nil, err
	}
	return withMember(doc, vector.Field, append(all, '}')), nil
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
