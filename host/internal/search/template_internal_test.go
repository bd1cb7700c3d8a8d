package search

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestRenderTime has the machine keep a rendering waiting for longer than that
// may take: its text is whole all the same. What takes its time by itself ends.
func TestRenderTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimitedText(1000)
		for range 5 {
			time.Sleep(time.Minute)
			if _, err := l.Write([]byte("x")); err != nil {
				t.Fatalf("a rendering that waited for the processor: %v", err)
			}
		}
		ms := 0
		for err := error(nil); err == nil; ms++ {
			time.Sleep(time.Millisecond)
			if _, err = l.Write(nil); err != nil && !errors.Is(err, errFull) {
				t.Fatal(err)
			}
		}
		if ms < 90 || ms > 110 {
			t.Errorf("a rendering was ended after %d ms of its own, want about 100: five long pauses count 20 ms each", ms)
		}
	})
}
