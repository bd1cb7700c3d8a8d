package write

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// stagedSet holds, while a task is applied, the vectors that embedders made for
// it, by what they were made of: asking may fail, and must have ended well
// before the first of the task's documents is written.
const stagedSet = 0

// stage has the vectors made of inputs that are not staged yet.
func (b *docBatch) stage(ctx context.Context, name string, e *settings.Embedder, inputs []input) error {
	if len(inputs) == 0 {
		return nil
	}
	docs := b.record().Docs
	ids := make([]string, len(inputs))
	for i := range inputs {
		ids[i] = stagedID(name, inputs[i].hash)
	}
	have, err := b.service.indexes.DB.Vectors(docs, stagedSet, ids)
	if err != nil {
		return fmt.Errorf("read staged vectors: %w", err)
	}
	var asked []input
	var missing []string
	for i, in := range inputs {
		if have[i] == nil {
			asked, missing = append(asked, in), append(missing, ids[i])
		}
	}
	if len(asked) == 0 {
		return nil
	}
	made, err := b.service.embedInputs(ctx, name, e, b.dimensions(name, e), asked)
	if err != nil {
		return err
	}
	b.dims[name] = len(made[0][0])
	puts := make([]vectorPut, len(made))
	for i, v := range made {
		puts[i] = vectorPut{stagedSet, missing[i], &vector.Document{Made: true, Text: asked[i].hash, Vectors: v}}
	}
	b.staged = true
	return writeVectors(b.service.indexes.DB, docs, puts)
}

// stagedID is what a vector is staged under.
func stagedID(name string, hash uint64) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, settings.HashText(name))) + hex.EncodeToString(binary.BigEndian.AppendUint64(nil, hash))
}

// unstage removes what was staged for a task.
func (b *docBatch) unstage() error {
	if !b.staged {
		return nil
	}
	b.staged = false
	if err := b.service.indexes.DB.DropVectors(b.record().Docs, stagedSet); err != nil {
		return fmt.Errorf("remove staged vectors: %w", err)
	}
	return nil
}

// madeOf returns the vectors of an input. Where a document comes twice in a
// task, far apart, its input may not have been known before.
func (b *docBatch) madeOf(ctx context.Context, name string, e *settings.Embedder, in input) (*vector.Document, error) {
	for range 2 {
		found, err := b.service.indexes.DB.Vectors(b.record().Docs, stagedSet, []string{stagedID(name, in.hash)})
		if err != nil {
			return nil, fmt.Errorf("read staged vectors: %w", err)
		}
		if found[0] != nil {
			return vector.Decode(found[0])
		}
		if err := b.stage(ctx, name, e, []input{in}); err != nil {
			// Some of the task may be written: it is put off, not failed.
			return nil, fmt.Errorf("make vectors: %s", err)
		}
	}
	return nil, fmt.Errorf("staged vectors of embedder %q are gone", name)
}
