// Package clocktest gives tests a clock that is set, as a machine's is by hand
// or by NTP: the date jumps, and what a process measures by Go's monotonic
// reading goes on.
package clocktest

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// A Clock is the machine's, until it is set. Safe for concurrent use; its zero
// value is ready.
type Clock struct{ off atomic.Int64 }

// Now is [time.Now] by this clock.
func (c *Clock) Now() time.Time { return Set(time.Now(), time.Duration(c.off.Load())) }

// Set puts the clock forward by whole seconds from what it says, or back.
func (c *Clock) Set(by time.Duration) { c.off.Add(int64(by)) }

// Set returns t, which is of [time.Now], as a clock would have told it that was
// put forward by whole seconds: with another date, and the same monotonic
// reading. Package time offers no such thing, since no program should want it.
func Set(t time.Time, by time.Duration) time.Time {
	set := t
	// A Time begins with a bit that says there is a monotonic reading, 33 bits of
	// seconds and 30 of nanoseconds.
	*(*uint64)(unsafe.Pointer(&set)) += uint64(by/time.Second) << 30
	if set.Sub(t) != 0 || set.Unix()-t.Unix() != int64(by/time.Second) {
		panic("package time keeps a Time in another form, or this one has no monotonic reading")
	}
	return set
}
