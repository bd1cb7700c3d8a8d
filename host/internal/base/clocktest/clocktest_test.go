package clocktest

import (
	"testing"
	"time"
)

// A clock that is set tells another date, and what is measured by it is right
// all the same.
func TestClock(t *testing.T) {
	var c Clock
	before := c.Now()
	for _, by := range []time.Duration{365 * 24 * time.Hour, -366 * 24 * time.Hour} {
		was := c.Now()
		c.Set(by)
		now := c.Now()
		if took := now.Sub(was); took < 0 || took > time.Hour {
			t.Errorf("set by %v: %v went by", by, took)
		}
		if moved := now.Round(0).Sub(was.Round(0)) - by; moved < -time.Hour || moved > time.Hour {
			t.Errorf("set by %v: the date is %v beside that", by, moved)
		}
	}
	if took := c.Now().Sub(before); took < 0 || took > time.Hour {
		t.Errorf("%v went by", took)
	}
}
