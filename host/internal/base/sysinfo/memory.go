package sysinfo

import (
	"bytes"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// Memory is how many bytes this process may take, as the first of these says that
// says anything: GOMEMLIMIT, the limits of its control groups, the machine's
// memory. Of a bound on addresses it is a quarter: Go and the database map
// most of them without use. 0: unknown.
func Memory() int64 {
	n := debug.SetMemoryLimit(-1)
	if n == math.MaxInt64 {
		n = groupMemory("/")
	}
	if n == 0 {
		n = MachineMemory()
	}
	if a := addressSpace(); a > 0 && (n == 0 || a/4 < n) {
		n = a / 4
	}
	return n
}

// CollectWithinMemory has garbage collected more often where the process comes near to
// its [Memory], unless GOMEMLIMIT says when.
func CollectWithinMemory() {
	if n := Memory(); n > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(n / 10 * 9)
	}
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
