package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Embedding is the place of a vector.
const Embedding = "{{embedding}}"

// Vectors reads vectors out of responses. It never changes.
type Vectors struct{ *Pattern }

// ParseVectors reads a template with [Embedding] in it.
func ParseVectors(template []byte) (*Vectors, error) {
	p, err := Parse(template, Embedding)
	if err != nil {
		return nil, err
	}
	return &Vectors{p}, nil
}

// Read returns the n vectors of a response's body, all of one length. An error
// goes on from "the answer" and repeats nothing of it.
func (v *Vectors) Read(body []byte, n int) ([][]float32, error) {
	list, err := v.Find(body)
	if err != nil {
		return nil, err
	}
	if len(list) != n {
		return nil, fmt.Errorf("has %d vectors for %d texts", len(list), n)
	}
	out := make([][]float32, n)
	for i, raw := range list {
		if out[i], err = Vector(raw); err != nil {
			return nil, err
		}
		if len(out[i]) != len(out[0]) {
			return nil, fmt.Errorf("has vectors of %d and of %d numbers", len(out[0]), len(out[i]))
		}
	}
	return out, nil
}

// Vector reads an array of at least one number, none beyond 32 bits. An error
// goes on from the name of what it was read from.
func Vector(raw []byte) ([]float32, error) {
	var wide []float64
	if json.Unmarshal(raw, &wide) != nil {
		return nil, errors.New("has something else than an array of numbers where a vector should be")
	}
	if len(wide) == 0 {
		return nil, errors.New("has a vector without numbers")
	}
	v := make([]float32, len(wide))
	for i, x := range wide {
		if math.Abs(x) > math.MaxFloat32 {
			return nil, errors.New("has a vector with a number beyond 32 bits")
		}
		v[i] = float32(x)
	}
	return v, nil
}
