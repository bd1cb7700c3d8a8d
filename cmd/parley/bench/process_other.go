//go:build !linux

package bench

import "time"

// CPU would be the processor time of a process; it is told on Linux alone.
func CPU(int) (used time.Duration, ok bool) { return 0, false }
