package sysinfo

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGroupMemory(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"none":                  {nil, 0},
		"version 2":             {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n"}, 1000},
		"a parent has less":     {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "700\n"}, 700},
		"seen from within":      {map[string]string{"proc/self/cgroup": "0::/x/y\n", "sys/fs/cgroup/memory.max": "500\n"}, 500},
		"without a limit":       {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		"version 1":             {map[string]string{"proc/self/cgroup": "9:cpu:/z\n4:memory:/a\n0::/\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "300\n"}, 300},
		"version 1, no limit":   {map[string]string{"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"version 1 in the root": {map[string]string{"proc/self/cgroup": "4:memory:/q\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "200\n"}, 200},
	} {
		root := t.TempDir()
		for file, text := range tt.files {
			at := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := groupMemory(root); got != tt.want {
			t.Errorf("%s: groupMemory = %d, want %d", name, got, tt.want)
		}
	}
	if got := machineMemory([]byte("MemFree: 1 kB\nMemTotal:       2048 kB\n")); got != 2<<20 {
		t.Errorf("machineMemory = %d, want 2 MiB", got)
	}
	if n, files := Memory(), Descriptors(); runtime.GOOS == "linux" && (n < 1<<20 || files < 3) {
		t.Errorf("Memory, Descriptors = %d, %d, want those of this machine", n, files)
	}
}

// A bound on addresses, as a process has it, is heeded before it is reached.
func TestRoomUnderABound(t *testing.T) {
	if os.Getenv("PARLEY_TEST_ROOM") == "" {
		if runtime.GOOS != "linux" {
			t.Skip("what is mapped is told by Linux")
		}
		if raceDetector {
			t.Skip("the race detector takes more addresses than the bound")
		}
		if Room() != math.MaxInt64 {
			t.Skip("these tests have a bound on addresses already")
		}
		bounded := func(test string) ([]byte, error) {
			cmd := exec.Command("sh", "-c", `ulimit -v 2000000; exec "$0" -test.run "$1"`, os.Args[0], test)
			cmd.Env = append(os.Environ(), "PARLEY_TEST_ROOM=1")
			return cmd.CombinedOutput()
		}
		if out, err := bounded("^TestRoomUnderABound$"); err != nil {
			t.Errorf("under a bound: %v\n%s", err, out)
		}
		return
	}
	before := Room()
	if before <= 0 || before >= 2000000<<10 || Memory() >= before {
		t.Fatalf("Room, Memory = %d, %d, want less than the bound", before, Memory())
	}
	taken := make([]byte, 200<<20)
	if after := Room(); after > before-150<<20 {
		t.Errorf("Room = %d after %d were taken of %d", after, len(taken), before)
	}
	CollectWithinMemory()
	if limit := debug.SetMemoryLimit(-1); limit >= before {
		t.Errorf("garbage is collected from %d on, of %d that there are", limit, before)
	}
	runtime.KeepAlive(taken)
}
