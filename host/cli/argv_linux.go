package cli

import "unsafe"

// blankArgument writes over a part of an argument where the system put it: the runtime
// makes os.Args of that memory without a copy, and /proc/PID/cmdline shows it.
func blankArgument(argument string) {
	b := unsafe.Slice(unsafe.StringData(argument), len(argument))
	for i := range b {
		b[i] = 'x'
	}
}
