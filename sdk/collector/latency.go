package collector

import "math/bits"

// The buckets of a [Latency]: one for each number below 1024, then 64 for each
// doubling up to 2^24, so that what it answers is at most 1.6 % too much.
const (
	fineBits  = 10
	stepBits  = 6
	topBits   = 24
	fine      = 1 << fineBits
	steps     = 1 << stepBits
	bucketNum = fine + (topBits-fineBits)*steps
)

// Latency gives percentiles of whole numbers, such as milliseconds, in 7.5 KiB
// however many there are. Below 1024 they are exact; from 2^24 on, which is
// four hours and a half, numbers count as the largest one.
type Latency struct {
	n       uint64
	largest uint64
	buckets [bucketNum]uint32
}

// Add counts n in.
func (l *Latency) Add(n uint64) {
	n = min(n, 1<<topBits-1)
	l.n++
	l.largest = max(l.largest, n)
	l.buckets[bucketOf(n)]++
}

// Count is how many numbers there are.
func (l *Latency) Count() uint64 { return l.n }

// Percentile returns the number of rank ceil(p/100 × count), counted from the
// smallest: the nearest rank. ok is false where there are none.
func (l *Latency) Percentile(p uint64) (n uint64, ok bool) { return l.PerMille(10 * p) }

// PerMille is Percentile in thousandths: 999 for the aggregation p99.9.
func (l *Latency) PerMille(p uint64) (n uint64, ok bool) {
	if l.n == 0 {
		return 0, false
	}
	rank := (l.n*p + 999) / 1000
	for i, count := range l.buckets {
		if uint64(count) >= rank {
			return min(topOf(i), l.largest), true
		}
		rank -= uint64(count)
	}
	return l.largest, true // more than 100 percent were asked for
}

func bucketOf(n uint64) int {
	if n < fine {
		return int(n)
	}
	octave := bits.Len64(n) - 1 - fineBits
	return fine + octave*steps + int(n>>(octave+fineBits-stepBits))&(steps-1)
}

// topOf is the largest number of a bucket.
func topOf(bucket int) uint64 {
	if bucket < fine {
		return uint64(bucket)
	}
	octave, step := (bucket-fine)/steps, (bucket-fine)%steps
	return (uint64(steps+step)+1)<<(octave+fineBits-stepBits) - 1
}
