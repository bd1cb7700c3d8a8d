package wasm

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// TestSnapshotLeavesMemory wants the file of a snapshot out of the host's memory once it
// was compared: it is megabytes a plugin, and resets read a few pages of it.
func TestSnapshotLeavesMemory(t *testing.T) {
	m := frozenModule(t, openRuntime(t, Options{}), "thief", Limits{})
	s := m.snapshot()
	if s == nil {
		t.Fatal("the module has no snapshot")
	}
	const most = 64 << 10 // what the system brings in beside a page that is read
	if len(s.memory) <= most {
		t.Fatalf("the snapshot has %d bytes, which show nothing", len(s.memory))
	}
	if got := resident(t, s.memory); got > most {
		t.Errorf("%d of %d bytes are in memory; want at most %d", got, len(s.memory), most)
	}
	touch(s.memory[len(s.memory)/2])
	if got := resident(t, s.memory); got == 0 {
		t.Error("a page that was read is not in memory: the test cannot tell")
	}
}

// resident returns how many bytes of a mapping this process has in memory.
func resident(t *testing.T, mapped []byte) int {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	begin := fmt.Sprintf("%08x-", uintptr(unsafe.Pointer(unsafe.SliceData(mapped))))
	lines, here := bufio.NewScanner(f), false
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, begin) {
			here = true
			continue
		}
		var kb int
		if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kb); here && n == 1 {
			return kb << 10
		}
	}
	t.Fatalf("no mapping begins at %s", begin)
	return 0
}
