package sysinfo

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Memory is how many bytes this process may take, as the first of these says that
// says anything: GOMEMLIMIT, the limits of its control groups, the machine's
// memory. Of a bound on addresses it is what is left for Go, and less what is still to
// be mapped when the host starts. 0: unknown.
func Memory() int64 {
	n := memoryWithoutBound()
	if a := heapRoom(); a > 0 {
		if a = max(a-toBeMapped, a/4); n == 0 || a < n {
			n = a
		}
	}
	return n
}

// toBeMapped is about what the database's files and compiled code take of the addresses.
const toBeMapped = 320 << 20

func memoryWithoutBound() int64 {
	if n := debug.SetMemoryLimit(-1); n != math.MaxInt64 {
		return n
	}
	return cmp.Or(groupMemory("/"), MachineMemory())
}

// CollectWithinMemory has garbage collected more often where the process comes near to
// what it may take, unless GOMEMLIMIT says when. Call it once the host's files are mapped.
func CollectWithinMemory() {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	n := memoryWithoutBound() / 10 * 9
	// Addresses are in pieces: Go's heap takes more of them than it has bytes.
	if a := heapRoom() / 4 * 3; a > 0 && (n == 0 || a < n) {
		n = a
	}
	if n > 0 {
		debug.SetMemoryLimit(n)
	}
}

// Room is how many bytes Go can still take before the bound on the process's addresses ends
// the process; math.MaxInt64: there is no bound. Garbage counts as taken.
func Room() int64 {
	left := addressesLeft()
	if left == math.MaxInt64 {
		return left
	}
	_, unused := heap()
	return left + unused
}

// heapRoom is how many bytes Go may have in all under the bound on addresses; 0: there is none.
func heapRoom() int64 {
	left := addressesLeft()
	if left == math.MaxInt64 {
		return 0
	}
	total, _ := heap()
	return left + total
}

// heap is how many bytes Go has mapped, and how many of them are unused.
func heap() (total, unused int64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()), int64(s[1].Value.Uint64() + s[2].Value.Uint64())
}

// addressesLeft is what the bound on the process's addresses leaves; math.MaxInt64: there
// is none, or the system does not say what is mapped.
func addressesLeft() int64 {
	bound := addressSpace()
	if bound == 0 {
		return math.MaxInt64
	}
	pages, _, _ := strings.Cut(string(readAll("/proc/self/statm")), " ")
	mapped, err := strconv.ParseInt(pages, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return max(bound-mapped*int64(os.Getpagesize()), 0)
}

func readAll(file string) []byte {
	b, _ := os.ReadFile(file) // where it is missing, it says nothing
	return b
}

// groupMemory is the least limit of the control groups that the process is in, in
// either version of them; 0: none. root is where the system's files are.
func groupMemory(root string) (least int64) {
	for line := range strings.Lines(string(readAll(path.Join(root, "proc/self/cgroup")))) {
		hierarchy, group, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(group, ":")
		folder, file := path.Join(root, "sys/fs/cgroup"), "memory.max"
		switch {
		case controllers == "memory":
			folder, file = path.Join(folder, "memory"), "memory.limit_in_bytes"
		case hierarchy != "0":
			continue
		}
		// What is above the group bounds it, too. In a container the group's own name
		// may be one that is not seen from within.
		for at := path.Join("/", group); ; at = path.Dir(at) {
			limit, err := strconv.ParseInt(string(bytes.TrimSpace(readAll(path.Join(folder, at, file)))), 10, 64)
			if err == nil && limit > 0 && limit < 1<<60 && (least == 0 || limit < least) {
				least = limit
			}
			if at == "/" {
				break
			}
		}
	}
	return least
}

// MachineMemory is how many bytes of memory the machine has; 0: unknown.
func MachineMemory() int64 { return machineMemory(readAll("/proc/meminfo")) }

// machineMemory is what a /proc/meminfo says there is; 0: nothing.
func machineMemory(meminfo []byte) int64 {
	for line := range strings.Lines(string(meminfo)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}
