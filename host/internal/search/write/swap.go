package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/task"
)

// A Swap gives two indexes each other's uid; with Rename the first takes the
// second's, which must be free.
type Swap struct {
	Indexes [2]string
	Rename  bool
}

// SwapIndexes is the task that makes all swaps, or none. An index may be in one
// of them only.
func SwapIndexes(swaps []Swap) (task.New, error) {
	type swapDetails struct {
		Indexes [2]string `json:"indexes"`
		Rename  bool      `json:"rename"`
	}
	list := []swapDetails{}
	var uids []string
	for i, sw := range swaps {
		for _, uid := range sw.Indexes {
			if err := index.CheckUID(uid); err != nil {
				return task.New{}, apierr.Newf(indexerr.InvalidSwapIndexes, "swaps[%d]: %s", i, apierr.From(err).Message)
			}
			if slices.Contains(uids, uid) {
				return task.New{}, apierr.Newf(indexerr.InvalidSwapDuplicateIndexFound, "Index `%s` is named twice: each index may be in one swap only.", uid)
			}
			uids = append(uids, uid)
		}
		list = append(list, swapDetails(sw))
	}
	p := payload{Swaps: swaps}
	return task.New{Type: task.IndexSwap, Indexes: uids, Details: details("swaps", list), Payload: p.encode(nil)}, nil
}

// applySwap changes the records of all indexes in one transaction: what they
// hold stays where it is.
func (s *Writer) applySwap(ctx context.Context, w *task.Work) (task.Outcome, error) {
	if o, ok, err := s.outcome(w.UID); ok || err != nil {
		return o, err // swapped before the crash
	}
	p, _, err := decodePayload(w.Payload)
	if err != nil {
		return task.Outcome{}, err
	}
	if err := s.checkSwaps(p.Swaps); err != nil {
		return task.Outcome{Err: task.Fail(err)}, nil
	}
	now := s.indexes.Now().UTC()
	metas := map[string][]byte{}
	renamed := map[*index.Index]*index.Meta{}
	for _, sw := range p.Swaps {
		for i, uid := range sw.Indexes {
			ix := s.indexes.Find(uid)
			if ix == nil {
				continue // to be taken by a rename
			}
			unlock, err := ix.Lock(ctx)
			if err != nil {
				return task.Outcome{}, err
			}
			defer unlock()
			m := ix.Meta().Clone()
			m.UID, m.UpdatedAt = sw.Indexes[1-i], now
			if sw.Rename {
				metas[uid] = nil
			}
			metas[m.UID] = m.Encode()
			renamed[ix] = m
		}
	}
	return task.Outcome{}, s.putRenamed(ctx, w, metas, renamed)
}

// putRenamed writes records, by uid, and their task's outcome in one transaction. nil removes one.
func (s *Writer) putRenamed(ctx context.Context, w *task.Work, metas map[string][]byte, renamed map[*index.Index]*index.Meta) error {
	if err := s.indexes.DB.PutMetas(metas, map[uint32][]byte{w.UID: encodeOutcome(task.Outcome{})}); err != nil {
		return fmt.Errorf("rename indexes: %w", err)
	}
	return s.indexes.Rename(ctx, renamed)
}

func uidTaken(uid string) *apierr.Error {
	return apierr.Newf(indexerr.IndexAlreadyExists, "Index `%s` already exists: no index can be renamed to it.", uid)
}

// checkSwaps wants every index to be there, and the new names of renames not.
func (s *Writer) checkSwaps(swaps []Swap) error {
	var absent []string
	var taken error
	for _, sw := range swaps {
		for i, uid := range sw.Indexes {
			there := s.indexes.Find(uid) != nil
			switch {
			case sw.Rename && i == 1 && there:
				taken = errors.Join(taken, uidTaken(uid))
			case !there && !(sw.Rename && i == 1):
				absent = append(absent, "`"+uid+"`")
			}
		}
	}
	if len(absent) > 0 {
		return apierr.Newf(indexerr.IndexNotFound, "Index %s not found: nothing was swapped.", strings.Join(absent, ", "))
	}
	if taken != nil {
		return apierr.From(taken)
	}
	return nil
}
