package limit

import (
	"math"
	"time"
)

// A bucket is what was used of a minute's amount: it drains evenly, so that there is
// no burst at the full minute. Its zero value is unused.
//
// It may hold more than the amount, since an answer is never cut: the next one waits.
// That, and giving back what was reserved in vain, golang.org/x/time/rate cannot do.
type bucket struct {
	used float64
	at   time.Time // when used was that
}

// drain lets out what the time since the last call made free.
func (b *bucket) drain(amount int64, now time.Time) {
	b.used = max(0, b.used-float64(amount)*now.Sub(b.at).Minutes())
	b.at = now
}

// slack is less than any request or token: what floating point may be off by.
const slack = 1e-6

// wait is how long until n more fit; 0: they do now. What is more than the whole
// amount fits where nothing else is.
func (b *bucket) wait(amount, n int64) time.Duration {
	over := b.used + float64(min(n, amount)) - float64(amount)
	if over <= slack {
		return 0
	}
	return span(over, amount)
}

// window is what of amount is left.
func (b *bucket) window(amount int64) Window {
	return Window{amount, max(0, int64(math.Floor(float64(amount)-b.used+slack))), span(b.used, amount)}
}

// span is how long n take to drain, in whole milliseconds, rounded up.
func span(n float64, amount int64) time.Duration {
	return time.Duration(math.Ceil(n/float64(amount)*60e3-slack)) * time.Millisecond
}
