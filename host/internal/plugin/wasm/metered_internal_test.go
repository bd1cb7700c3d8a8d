package wasm

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestStarvedGuest has the machine keep a call waiting for longer than its
// deadline: that is not its fault. What it takes itself is.
func TestStarvedGuest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &meterGuard{}
		g.begin(context.Background(), time.Second)
		ended := func() (ended bool) {
			defer func() { ended = recover() == stopError{FaultDeadline} }()
			g.check()
			return false
		}
		for range 10 {
			if ended() {
				t.Fatal("a call that waited for the processor was ended")
			}
			time.Sleep(time.Minute)
		}
		turns := 0
		for ; !ended(); turns++ {
			time.Sleep(time.Millisecond)
		}
		if turns < 900 || turns > 1000 {
			t.Errorf("a call was ended after %d ms of its own, want about 960: ten looks after long pauses count 4 ms each", turns)
		}
	})
}
