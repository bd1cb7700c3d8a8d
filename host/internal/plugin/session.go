package plugin

import (
	"context"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// An Isolation says between what a plugin's instances are reset, so that nothing
// of the one reaches the other.
type Isolation string

// The isolations.
const (
	IsolateAnswers    Isolation = "answer"    // the default
	IsolateWorkspaces Isolation = "workspace" // answers of one workspace are not reset between
)

// A session is a provider in the service of one answer: its calls may find what
// others of them left in an instance, and nothing else. It implements
// [provider.Source].
type session struct {
	*Provider
	use wasm.Use
	// alone: the tag is this answer's and no other's.
	alone bool
}

var _ provider.Source = (*session)(nil)

// Encode implements [provider.Source].
func (s *session) Encode(ctx context.Context, in *abi.EncodeRequest) (*abi.EncodeResponse, error) {
	return s.encode(ctx, s.use, in)
}

// end says that the answer is over.
func (s *session) end() {
	if s.alone {
		s.module.Done(s.use.Tag)
	}
	s.Release()
}

// Decode implements [provider.Source].
func (s *session) Decode(ctx context.Context, in, dst []byte) ([]byte, error) {
	return s.decode(ctx, s.use, in, dst)
}

// Error implements [provider.Source].
func (s *session) Error(ctx context.Context, in *abi.ErrorRequest) (*abi.ProviderError, error) {
	return s.error(ctx, s.use, in)
}

// seed keeps callers from choosing the tags of workspaces.
var seed = maphash.MakeSeed()

// tag returns the tag of an answer of workspace.
func (i Isolation) tag(workspace string) wasm.Tag {
	if i == IsolateWorkspaces {
		return wasm.Tag(maphash.String(seed, workspace))
	}
	return wasm.NewTag()
}

// Bounds of what is done to warm a plugin.
const (
	warmTests = 100
	warmTime  = 25 * time.Millisecond
)

// warm makes the decode calls of the self-test again and again. A guest makes
// room and keeps patterns in its first calls; frozen after them, it need not do
// so in each answer.
func (s *session) warm(ctx context.Context) error {
	tests, began := 0, time.Now()
	for before := -1; tests > before && tests < warmTests && time.Since(began) < warmTime; {
		before = tests
		for n := range s.manifest.SelfTest {
			t := &s.manifest.SelfTest[n]
			if t.Call != abi.SelfTestDecode {
				continue
			}
			if err := s.selfTestOne(ctx, t); err != nil {
				return selfTestFailed(n, t, fmt.Errorf("made again: %w", err))
			}
			tests++
		}
	}
	return nil
}
