package search

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// stagedSet holds, while a task is applied, the vectors that embedders made for
// it, by what they were made of: asking may fail, and must have ended well
// before the first of the task's documents is written.
const stagedSet = 0

// stage has the vectors made of texts that are not staged yet.
func (b *docBatch) stage(ctx context.Context, name string, e *Embedder, hashes []uint64, texts map[uint64]string) error {
	if len(hashes) == 0 {
		return nil
	}
	docs := b.record().Docs
	ids := make([]string, len(hashes))
	for i, h := range hashes {
		ids[i] = stagedID(name, h)
	}
	have, err := b.service.opts.DB.Vectors(docs, stagedSet, ids)
	if err != nil {
		return fmt.Errorf("read staged vectors: %w", err)
	}
	var asked []string
	var missing []int
	for i, h := range hashes {
		if have[i] == nil {
			asked, missing = append(asked, texts[h]), append(missing, i)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	maker, called := e.forDocuments(name)
	made, err := b.service.embedTexts(ctx, called, maker, b.dimensions(name, e), asked, documentTries)
	if err != nil {
		return err
	}
	b.dims[name] = len(made[0])
	puts := make([]vectorPut, len(made))
	for i, v := range made {
		puts[i] = vectorPut{stagedSet, ids[missing[i]], &docVectors{made: true, text: hashes[missing[i]], vectors: [][]float32{v}}}
	}
	b.staged = true
	return writeVectors(b.service.opts.DB, docs, puts)
}

// stagedID is what a vector is staged under.
func stagedID(name string, hash uint64) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, hashText(name))) + hex.EncodeToString(binary.BigEndian.AppendUint64(nil, hash))
}

// unstage removes what was staged for a task.
func (b *docBatch) unstage() error {
	if !b.staged {
		return nil
	}
	b.staged = false
	if err := b.service.opts.DB.DropVectors(b.record().Docs, stagedSet); err != nil {
		return fmt.Errorf("remove staged vectors: %w", err)
	}
	return nil
}

// madeOf returns the vectors of a text. Where a document comes twice in a task,
// far apart, its text may not have been known before.
func (b *docBatch) madeOf(ctx context.Context, name string, e *Embedder, text string, hash uint64) (*docVectors, error) {
	for range 2 {
		found, err := b.service.opts.DB.Vectors(b.record().Docs, stagedSet, []string{stagedID(name, hash)})
		if err != nil {
			return nil, fmt.Errorf("read staged vectors: %w", err)
		}
		if found[0] != nil {
			return decodeVectors(found[0])
		}
		if err := b.stage(ctx, name, e, []uint64{hash}, map[uint64]string{hash: text}); err != nil {
			// Some of the task may be written: it is put off, not failed.
			return nil, fmt.Errorf("make vectors: %s", err)
		}
	}
	return nil, fmt.Errorf("staged vectors of embedder %q are gone", name)
}
