// Package clustertest holds what [cluster.Log] promises as a test, and an
// implementation in memory.
package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/cluster"
)

// Memory is a [cluster.Log] that does what it is told. Its zero value is ready.
type Memory struct {
	mu   sync.Mutex
	list [][]byte

	// Before, where not nil, runs before each Append, whose error is its own.
	Before func() error
}

var _ cluster.Log = (*Memory)(nil)

// Append implements [cluster.Log].
func (m *Memory) Append(_ context.Context, messages [][]byte, last uint64) error {
	if m.Before != nil {
		if err := m.Before(); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := uint64(len(m.list)); n != last {
		return fmt.Errorf("the last message is %d, not %d", n, last)
	}
	m.list = append(m.list, messages...)
	return nil
}

// Read implements [cluster.Log].
func (m *Memory) Read(_ context.Context, from uint64) (out []cluster.Message, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for seq := from; seq <= uint64(len(m.list)) && len(out) < 100; seq++ {
		out = append(out, cluster.Message{Seq: seq, Record: m.list[seq-1]})
	}
	return out, nil
}

// Len returns how many messages there are.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.list)
}

// TestLog holds an empty log to what [cluster.Log] promises. What other replicas
// know may come later: so a read that shows less is made again, until ctx ends.
func TestLog(t *testing.T, log cluster.Log) {
	t.Helper()
	ctx := t.Context()
	var want [][]byte
	add := func(last uint64, messages ...[]byte) error {
		err := log.Append(ctx, messages, last)
		if err == nil {
			want = append(want, messages...)
		}
		return err
	}
	if list, err := log.Read(ctx, 1); err != nil || len(list) != 0 {
		t.Fatalf("read of an empty log: %d messages, %v", len(list), err)
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), 32<<10) // a part of a transaction: 512 KiB
	for i, messages := range [][][]byte{
		{[]byte("a")},
		{[]byte("b"), []byte("c"), {}},
		{large, large, append([]byte("x"), large...), large},
		{[]byte("d")},
	} {
		if err := add(uint64(len(want)), messages...); err != nil {
			t.Fatalf("append %d of %d messages: %v", i, len(messages), err)
		}
	}
	for _, last := range []uint64{0, uint64(len(want)) - 1, uint64(len(want)) + 1, uint64(len(want)) + 100} {
		if err := log.Append(ctx, [][]byte{[]byte("refused")}, last); err == nil {
			t.Fatalf("append behind message %d of %d: no error", last, len(want))
		}
	}
	if err := add(uint64(len(want)), []byte("e")); err != nil {
		t.Fatalf("append after refused ones: %v", err)
	}
	for from := 1; from <= len(want)+1; from++ {
		at := from
		for at <= len(want) {
			list, err := log.Read(ctx, uint64(at))
			if err != nil {
				t.Fatalf("read from %d: %v", at, err)
			}
			for _, m := range list {
				if m.Seq != uint64(at) || at > len(want) || !bytes.Equal(m.Record, want[at-1]) {
					t.Fatalf("read from %d: message %d of %d bytes, want %d", from, m.Seq, len(m.Record), at)
				}
				at++
			}
		}
		if list, err := log.Read(ctx, uint64(at)); err != nil || len(list) != 0 {
			t.Fatalf("read behind the end: %d messages, %v", len(list), err)
		}
	}
	first := len(want) + 1
	for range 8 { // more than one read returns
		var many [][]byte
		for i := range 100 {
			many = append(many, fmt.Appendf(nil, "message %d", i))
		}
		if err := add(uint64(len(want)), many...); err != nil {
			t.Fatalf("append 100 messages behind %d: %v", len(want), err)
		}
	}
	for at := first; at <= len(want); {
		list, err := log.Read(ctx, uint64(at))
		if err != nil {
			t.Fatalf("read from %d: %v", at, err)
		}
		for _, m := range list {
			if m.Seq != uint64(at) || !bytes.Equal(m.Record, want[at-1]) {
				t.Fatalf("message %d is %q, want %q", m.Seq, m.Record, want[at-1])
			}
			at++
		}
	}
}
