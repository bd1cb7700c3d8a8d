package sysinfo

import (
	"os"
	"path/filepath"
	"runtime"
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
