package wasm

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// Error numbers of WASI.
const (
	errnoSuccess = 0
	errnoBadFile = 8
	errnoFault   = 21
	errnoInvalid = 28
	errnoUnknown = 52
)

// maxParts bounds the lists that a guest may pass in one call: the loop over
// them is the host's, where no limiter looks.
const maxParts = 1024

// wasiNoStrings answers args_sizes_get and environ_sizes_get: none.
func wasiNoStrings(_ *instance, memory api.Memory, stack []uint64) {
	if !memory.WriteUint32Le(uint32(stack[0]), 0) || !memory.WriteUint32Le(uint32(stack[1]), 0) {
		stack[0] = errnoFault
		return
	}
	stack[0] = errnoSuccess
}

// wasiClock answers clock_time_get: id 0 is the time of day, all others count
// from the instance's start.
func wasiClock(i *instance, memory api.Memory, stack []uint64) {
	now := uint64(time.Since(i.started))
	if uint32(stack[0]) == 0 { // the upper half of an i32 on the stack is anything
		now = uint64(time.Now().UnixNano())
	}
	if !memory.WriteUint64Le(uint32(stack[2]), now) {
		stack[0] = errnoFault
		return
	}
	stack[0] = errnoSuccess
}

// wasiResolution answers clock_res_get: a nanosecond, of every clock.
func wasiResolution(_ *instance, memory api.Memory, stack []uint64) {
	if !memory.WriteUint64Le(uint32(stack[1]), 1) {
		stack[0] = errnoFault
		return
	}
	stack[0] = errnoSuccess
}

func wasiRandom(i *instance, memory api.Memory, stack []uint64) {
	b, ok := memory.Read(uint32(stack[0]), uint32(stack[1]))
	if !ok {
		stack[0] = errnoFault
		return
	}
	for len(b) > 0 {
		// A piece takes well under a millisecond, all of a memory does not.
		piece := b[:min(len(b), 64<<10)]
		_, _ = rand.Read(piece) // never fails
		b = b[len(piece):]
		i.guard.check()
	}
	stack[0] = errnoSuccess
}

// wasiWrite keeps the beginning of what goes to stdout and stderr: it is what
// a fault is explained with.
func wasiWrite(i *instance, memory api.Memory, stack []uint64) {
	fd, vectors, n, written := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	if fd != 1 && fd != 2 {
		stack[0] = errnoBadFile
		return
	}
	if n > maxParts {
		stack[0] = errnoInvalid
		return
	}
	list, ok := memory.Read(vectors, 8*n)
	if !ok {
		stack[0] = errnoFault
		return
	}
	var sum uint32
	for ; len(list) > 0; list = list[8:] {
		b, ok := memory.Read(binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:]))
		if !ok {
			stack[0] = errnoFault
			return
		}
		i.output.write(b)
		sum += uint32(len(b))
	}
	if !memory.WriteUint32Le(written, sum) {
		stack[0] = errnoFault
		return
	}
	stack[0] = errnoSuccess
}

// wasiPoll answers poll_oneoff as if every subscription had come true at once:
// a guest cannot sleep. It must not fail, for Go's runtime sleeps while it
// prints a panic, and would lose the text.
func wasiPoll(_ *instance, memory api.Memory, stack []uint64) {
	const subscription, event = 48, 32
	in, out, n, count := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	if n == 0 || n > maxParts {
		stack[0] = errnoInvalid
		return
	}
	subs, ok := memory.Read(in, subscription*n)
	events, ok2 := memory.Read(out, event*n)
	if !ok || !ok2 || !memory.WriteUint32Le(count, n) {
		stack[0] = errnoFault
		return
	}
	for k := range int(n) {
		sub, ev := subs[k*subscription:], events[k*event:]
		userdata, tag := binary.LittleEndian.Uint64(sub), sub[8]
		clear(ev[:event])
		binary.LittleEndian.PutUint64(ev, userdata)
		ev[10] = tag
	}
	stack[0] = errnoSuccess
}

// wasiExit ends the call; the instance goes with it.
func wasiExit(_ *instance, _ api.Memory, stack []uint64) {
	panic(exitError{uint32(stack[0])})
}
