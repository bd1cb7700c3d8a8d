package main

import (
	"os"
	"runtime/debug"
)

// collectEarly has the heap collected once it has grown by half, unless the
// operator set GOGC. Go lets it double, and most of a host's heap are buffers of
// streams and of the database: large, without pointers, and so nearly free to
// collect.
func collectEarly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}
