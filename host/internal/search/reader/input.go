package reader

import (
	"context"
	"strings"

	"github.com/yuin/goldmark/text"
)

// heed ends the reading of a file where nobody waits for it any more.
func heed(ctx context.Context) {
	if err := ctx.Err(); err != nil {
		panic(refusal{err})
	}
}

// An input is a text that a parser reads, and heeds its context.
type input struct {
	*strings.Reader
	ctx   context.Context
	bytes int // since it was heeded, of those that are read one by one
}

func newInput(ctx context.Context, text string) *input {
	return &input{strings.NewReader(text), ctx, 0}
}

// Read implements [io.Reader].
func (in *input) Read(p []byte) (int, error) {
	heed(in.ctx)
	return in.Reader.Read(p)
}

// ReadByte implements [io.ByteReader].
func (in *input) ReadByte() (byte, error) {
	if in.bytes++; in.bytes == 4<<10 {
		heed(in.ctx)
		in.bytes = 0
	}
	return in.Reader.ReadByte()
}

// A lineInput is an input of Markdown.
type lineInput struct {
	text.Reader
	ctx context.Context
}

// AdvanceLine implements [text.Reader].
func (in lineInput) AdvanceLine() {
	heed(in.ctx)
	in.Reader.AdvanceLine()
}
