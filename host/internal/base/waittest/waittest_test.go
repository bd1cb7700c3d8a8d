package waittest

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestUntil waits for what comes about late, and for what never does.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if !Until(func() bool { return time.Since(begun) > Patience/2 }) {
			t.Error("what came about within the time is not seen")
		}
		begun = time.Now()
		if Until(func() bool { return false }) || time.Since(begun) < Patience {
			t.Errorf("what never comes about is given up after %s, want %s", time.Since(begun), Patience)
		}
	})
}
