package openai

import (
	"bytes"
	"fmt"

	"github.com/parley-search/parley/host/internal/rawjson"
)

// A chunk is one of package chat's.
type chunk struct {
	fields object // all but choices
	choice object // nil: none
	delta  object
}

var (
	frameStart = []byte("data: ")
	frameEnd   = []byte("\n\n")
	doneText   = []byte("[DONE]")
)

// eachChunk calls f with each of the chunks in frames, whose bytes are good
// within the call only.
func eachChunk(frames []byte, f func(*chunk) error) error {
	for len(frames) > 0 {
		frame, rest, ok := bytes.Cut(frames, frameEnd)
		if !ok {
			return fmt.Errorf("half a frame of %d bytes", len(frame))
		}
		frames = rest
		data, ok := bytes.CutPrefix(frame, frameStart)
		if !ok || bytes.Equal(data, doneText) {
			continue
		}
		c, err := parseChunk(data)
		if err != nil {
			return err
		}
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

func parseChunk(data []byte) (*chunk, error) {
	c := &chunk{}
	var ok bool
	if c.fields, ok = objectIn(data); !ok {
		return nil, fmt.Errorf("chunk is not an object")
	}
	if choices, ok := rawjson.Items(c.fields["choices"]); ok && len(choices) > 0 {
		c.choice, _ = objectIn(choices[0])
		c.delta, _ = objectIn(c.choice["delta"])
		delete(c.choice, "delta")
	}
	delete(c.fields, "choices")
	return c, nil
}
