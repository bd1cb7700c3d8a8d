package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time of a process so far; ok is false where it cannot
// be told. It is the clock of the process and not what /proc/PID/stat says:
// that counts hundredths of a second, of which a round of the floor has three.
func CPU(pid int) (used time.Duration, ok bool) {
	if pid <= 0 {
		return 0, false
	}
	const scheduled = 2 // what the scheduler gave, in nanoseconds; see clock_getcpuclockid(3)
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|scheduled, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
