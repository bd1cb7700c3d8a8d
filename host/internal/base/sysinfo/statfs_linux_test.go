package sysinfo

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestFreeBytes has file systems with blocks smaller than the best size of a read, without a size,
// and without room for files.
func TestFreeBytes(t *testing.T) {
	for name, tt := range map[string]struct {
		st      unix.Statfs_t
		want    uint64
		unknown bool
	}{
		"ext4":                 {unix.Statfs_t{Bsize: 4096, Frsize: 4096, Blocks: 1000, Bavail: 10, Files: 100, Ffree: 50}, 40960, false},
		"virtiofs":             {unix.Statfs_t{Bsize: 1 << 20, Frsize: 4096, Blocks: 1000, Bavail: 10, Files: 100, Ffree: 50}, 40960, false},
		"without a fragment":   {unix.Statfs_t{Bsize: 512, Blocks: 1000, Bavail: 10}, 5120, false},
		"btrfs, without files": {unix.Statfs_t{Bsize: 4096, Frsize: 4096, Blocks: 1000, Bavail: 10}, 40960, false},
		"no inodes":            {unix.Statfs_t{Bsize: 4096, Frsize: 4096, Blocks: 1000, Bavail: 10, Files: 100, Ffree: 15}, 0, false},
		"ramfs":                {unix.Statfs_t{Bsize: 4096, Frsize: 4096}, 0, true},
	} {
		if got, err := freeBytes(&tt.st); got != tt.want || (err != nil) != tt.unknown {
			t.Errorf("%s: freeBytes = %d, %v, want %d, an error: %v", name, got, err, tt.want, tt.unknown)
		}
	}
}
