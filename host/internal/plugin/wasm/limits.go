package wasm

import (
	"cmp"
	"runtime"
	"time"

	"github.com/parley-search/parley/abi"
)

// Limits bounds one module. The zero value of a field means its default, given
// beside it.
type Limits struct {
	Memory uint64 // bytes of one instance's memory; default 16 MiB
	// Room is how many bytes of memory an instance has before it starts, beyond
	// what it begins with; default none. A guest that is reset forgets that its
	// memory has grown, which nobody can undo, and would grow it again in each
	// call. Pages that it never writes to take no memory.
	Room         uint64
	Input        int           // bytes of one call's input; default a sixteenth of Memory, since a guest keeps many forms of it at once
	Output       int           // bytes of one call's output; default abi.MaxOutput
	CallTimeout  time.Duration // of one call, as long as the machine lets it run; default 2s
	Fuel         int64         // units one call may spend, where the limiter counts them (see package meter); default: only time bounds it
	StartTimeout time.Duration // wall clock of a new instance's start; default 10s
	Instances    int           // instances that serve calls at a time; default GOMAXPROCS. One more is kept warm
	// Parked is how many more are kept once the module is frozen, each for a [Tag]
	// under way whose calls then need no reset; default 6, and fewer where their
	// memories would be more than 64 MiB together.
	Parked int

	Calls     int           // calls after which an instance is replaced; default a million
	IdleAfter time.Duration // without calls, after which one instance is kept; default 5m

	Unbroken bool // faults keep no calls away, however many; for tests and measuring
}

const pageSize = 64 << 10

// maxParkedMemory bounds the memory of all parked instances of a module, in
// bytes. A guest that writes to all of its own costs that much; one of ours
// writes to a tenth of it at most.
const maxParkedMemory = 64 << 20

func (l Limits) withDefaults() Limits {
	l.Memory = cmp.Or(l.Memory, 16<<20) / pageSize * pageSize
	l.Input = cmp.Or(l.Input, int(l.Memory/16))
	l.Output = cmp.Or(l.Output, abi.MaxOutput)
	l.CallTimeout = cmp.Or(l.CallTimeout, 2*time.Second)
	l.StartTimeout = cmp.Or(l.StartTimeout, 10*time.Second)
	l.Instances = cmp.Or(l.Instances, runtime.GOMAXPROCS(0))
	l.Parked = cmp.Or(l.Parked, 6)
	l.Calls = cmp.Or(l.Calls, 1_000_000)
	l.IdleAfter = cmp.Or(l.IdleAfter, 5*time.Minute)
	return l
}
