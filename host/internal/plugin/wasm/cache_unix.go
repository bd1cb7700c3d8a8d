//go:build unix

package wasm

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner refuses a directory that belongs to another user: that user can
// open it again whatever its mode is now.
func checkOwner(info fs.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, not to user %d who runs this; name a directory of your own", s.Uid, os.Geteuid())
	}
	return nil
}
