package search

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/osteele/liquid"
)

// An input is what an embedder makes a document's vectors of.
type input struct {
	hash uint64 // of all texts; kept with the vectors
	// texts are as many as vectors: one, none where it is empty, or one of each
	// fragment that fits, then JSON.
	texts []string
}

func (in *input) size() (n int) {
	for _, t := range in.texts {
		n += len(t)
	}
	return n
}

// maxInputs bounds the bytes of inputs that are gathered before an embedder is
// asked about them.
const maxInputs = 4 << 20

// An inputMaker makes the inputs of documents for one embedder. It is used by
// one goroutine at a time.
type inputMaker struct {
	text      *renderer
	fragments []*fragment // in place of text, where fragmented
	// fragmented may be so without a fragment: documents get no vectors then.
	fragmented bool
}

// documentInputs returns what makes the inputs of documents for e.
func (e *Embedder) documentInputs(s *Settings) (*inputMaker, error) {
	maker, _ := e.forDocuments("")
	if maker.fragmented() {
		fragments, err := parseFragments(maker.IndexingFragments)
		return &inputMaker{fragments: fragments, fragmented: true}, err
	}
	own := *s
	own.Chat.DocumentTemplate, own.Chat.MaxBytes = maker.DocumentTemplate, maker.MaxBytes
	text, err := newRenderer(&own)
	return &inputMaker{text: text}, err
}

// of returns the input of a document.
func (m *inputMaker) of(doc json.RawMessage) input {
	if !m.fragmented {
		text := m.text.render(doc)
		in := input{hash: hashText(text)}
		if text != "" {
			in.texts = []string{text}
		}
		return in
	}
	var in input
	var v map[string]any
	if decodeNumbers(doc, &v) == nil { // the database has but objects
		with := liquid.Bindings{"doc": plain(v)}
		for _, f := range m.fragments {
			if text, ok := f.render(with); ok {
				in.texts = append(in.texts, text)
			}
		}
	}
	in.hash = hashText(strings.Join(in.texts, "\n"))
	return in
}

// embedInputs has an embedder make the vectors of documents; see embedTexts. It
// returns as many lists as inputs.
func (s *Service) embedInputs(ctx context.Context, name string, e *Embedder, dims int, inputs []input) ([][][]float32, error) {
	var texts []string
	for i := range inputs {
		texts = append(texts, inputs[i].texts...)
	}
	maker, called := e.forDocuments(name)
	made, err := s.embedTexts(ctx, called, maker, dims, texts, documentTries)
	if err != nil {
		return nil, err
	}
	if len(made) != len(texts) {
		return nil, fmt.Errorf("embedder %q made %d vectors of %d texts", called, len(made), len(texts))
	}
	out := make([][][]float32, len(inputs))
	for i := range inputs {
		n := len(inputs[i].texts)
		out[i], made = made[:n:n], made[n:]
	}
	return out, nil
}
