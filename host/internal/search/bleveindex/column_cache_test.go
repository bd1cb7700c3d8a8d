package bleveindex

import (
	"fmt"
	"testing"
)

// What was used last is kept, as far as the bytes go, and nothing of segments that
// are gone.
func TestRecent(t *testing.T) {
	r := newRecent(100)
	of := func(segment uint64) segmentKey { return segmentKey{"f", segment} }
	put := func(segment uint64, name string, bytes int, live ...uint64) {
		r.put(&made{of(segment), name, name, bytes}, live)
	}
	kept := func() string {
		out := ""
		for e := r.order.Front(); e != nil; e = e.Next() {
			m := e.Value.(*made)
			out += fmt.Sprintf("%d%s ", m.of.segment, m.name)
		}
		return fmt.Sprint(out, r.bytes)
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { put(1, "a", 40, 1) }, "1a 40"},
		{func() { put(1, "b", 40, 1) }, "1b 1a 80"},
		{func() { put(1, "a", 40, 1) }, "1b 1a 80"}, // it is there already
		{func() { r.get(of(1), "a") }, "1a 1b 80"},
		{func() { put(2, "c", 40, 1, 2) }, "2c 1a 80"},
		{func() { put(2, "d", 101, 1, 2) }, "2c 1a 80"}, // too large
		{func() { put(3, "e", 10, 2, 3) }, "3e 2c 50"},  // 1 was merged into 3
		{func() { r.retain("f", nil) }, "0"},
	} {
		step.do()
		if got := kept(); got != step.want {
			t.Fatalf("kept %q, want %q", got, step.want)
		}
	}
	if len(r.bySegment) != 0 {
		t.Errorf("%d segments are known once all was forgotten, want none", len(r.bySegment))
	}
}
