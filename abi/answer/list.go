package answer

import (
	"fmt"

	"github.com/parley-search/parley/abi"
)

// A List is what a template made of a response, as cases write it down.
type List struct {
	Models []string `json:"models,omitempty"`
	Next   string   `json:"next"`
	// Vectors are those of texts.
	Vectors [][]float32 `json:"vectors,omitempty"`
}

// Check says why template is none for op. The error goes on from the name of the
// template.
func Check(op string, template []byte) error {
	switch op {
	case abi.OpModels:
		_, err := ParseModels(template)
		return err
	case abi.OpEmbed:
		_, err := ParseVectors(template)
		return err
	}
	return fmt.Errorf("is for the op %.40q, which has none", op)
}

// Read reads the body of a response to the request that in asked for by template.
// The error goes on from "the answer", or from the name of the template where it
// is none.
func Read(in *abi.EncodeRequest, template, body []byte) (*List, error) {
	if err := Check(in.Op, template); err != nil {
		return nil, err
	}
	l := &List{}
	if in.Op == abi.OpEmbed {
		v, err := ParseVectors(template)
		if err == nil {
			l.Vectors, err = v.Read(body, len(in.Texts))
		}
		return l, err
	}
	m, err := ParseModels(template)
	if err == nil {
		l.Models, l.Next, err = m.Read(body)
	}
	return l, err
}
