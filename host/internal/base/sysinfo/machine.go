package sysinfo

import (
	"bufio"
	"bytes"
	"os"
	"regexp"
	"runtime"
	"strings"
)

// A Machine is what telemetry tells of where the host runs, rounded so that
// many machines are alike.
type Machine struct {
	Distribution string
	Kernel       string
	RAM          uint64 // KiB, in steps of 64 MiB
	Disk         uint64 // bytes of the largest disk, in steps of 1 GB
	Cores        int
	ID           string                 // tells machines apart, and is told to nobody; empty: not known
	Used         func(dir string) int64 // bytes that a directory takes of the disk; nil: they are counted
}

// ThisMachine looks at the system. What cannot be seen is empty.
func ThisMachine() *Machine {
	return &Machine{
		Distribution: distributionID(readOr("/etc/os-release", "/usr/lib/os-release")),
		Kernel:       Release(),
		RAM:          Round(uint64(MachineMemory())>>10, 64<<10),
		Disk:         Round(largestDisk(readOr("/proc/self/mounts")), 1e9),
		Cores:        runtime.NumCPU(),
		ID:           machineID(readOr("/etc/machine-id", "/var/lib/dbus/machine-id")),
	}
}

func readOr(files ...string) []byte {
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			return b
		}
	}
	return nil
}

// Round returns the multiple of step that is nearest to n.
func Round(n, step uint64) uint64 { return (n + step/2) / step * step }

// distributionID is the ID of an os-release file.
func distributionID(release []byte) string {
	for s := bufio.NewScanner(bytes.NewReader(release)); s.Scan(); {
		if v, ok := strings.CutPrefix(s.Text(), "ID="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return runtime.GOOS
}

var formMachineID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// machineID is the id in a file of systemd's; empty in an image that has none yet.
func machineID(file []byte) string {
	if id := strings.TrimSpace(string(file)); formMachineID.MatchString(id) {
		return id
	}
	return ""
}

// largestDisk is the capacity of the largest file system on a device.
func largestDisk(mounts []byte) (size uint64) {
	for s := bufio.NewScanner(bytes.NewReader(mounts)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 2 || !strings.HasPrefix(f[0], "/dev/") && f[1] != "/" {
			continue
		}
		size = max(size, SizeBytes(strings.ReplaceAll(f[1], `\040`, " ")))
	}
	return size
}
