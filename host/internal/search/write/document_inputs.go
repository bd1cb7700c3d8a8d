package write

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/template"
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

// An inputMaker makes the inputs of documents for one embedder.
type inputMaker struct {
	text      *settings.Renderer
	fragments []*template.Fragment // in place of text, where fragmented
	// fragmented may be so without a fragment: documents get no vectors then.
	fragmented bool
}

// documentInputs returns what makes the inputs of documents for e.
func documentInputs(e *settings.Embedder, s *settings.Settings) (*inputMaker, error) {
	maker, _ := e.ForDocuments("")
	if maker.Fragmented() {
		fragments, err := template.ParseFragments(maker.IndexingFragments)
		if err != nil { // an earlier version took it
			return nil, apierr.Newf(indexerr.InvalidSettingsEmbedders, "The `indexingFragments` cannot be used any more, set them anew: %s", settings.EndSentence(err.Error()))
		}
		return &inputMaker{fragments: fragments, fragmented: true}, nil
	}
	own := *s
	own.Chat.DocumentTemplate, own.Chat.MaxBytes = maker.DocumentTemplate, maker.MaxBytes
	return &inputMaker{text: settings.NewRenderer(&own)}, nil
}

// of returns the input of a document. Its only error is that ctx ended.
func (m *inputMaker) of(ctx context.Context, doc json.RawMessage) (input, error) {
	if !m.fragmented {
		text, err := m.text.Render(ctx, doc)
		if err != nil {
			return input{}, err
		}
		in := input{hash: settings.HashText(text)}
		if text != "" {
			in.texts = []string{text}
		}
		return in, nil
	}
	var in input
	var v map[string]any
	if template.DecodeNumbers(doc, &v) == nil { // the database has but objects
		with := map[string]any{"doc": template.Plain(v)}
		budget := template.NewBudget(ctx) // one for all, which are up to 32
		for _, f := range m.fragments {
			if text, ok := f.Render(budget, with); ok {
				in.texts = append(in.texts, text)
			}
		}
		if ctx.Err() != nil {
			return input{}, fmt.Errorf("render fragments of a document: %w", ctx.Err())
		}
	}
	in.hash = settings.HashText(strings.Join(in.texts, "\n"))
	return in, nil
}

// embedInputs has an embedder make the vectors of documents; see EmbedTexts. It
// returns as many lists as inputs.
func (s *Writer) embedInputs(ctx context.Context, name string, e *settings.Embedder, dims int, inputs []input) ([][][]float32, error) {
	var texts []string
	for i := range inputs {
		texts = append(texts, inputs[i].texts...)
	}
	maker, called := e.ForDocuments(name)
	made, err := s.embedders.EmbedTexts(ctx, called, maker, dims, texts, abi.InputDocument)
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
