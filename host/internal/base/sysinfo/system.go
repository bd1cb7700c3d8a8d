// Package sysinfo is what the host asks of the operating system that Go's os
// does not offer: locks, room on a disk, and what a file takes of it. A file
// for each kind of system answers the same.
package sysinfo

import "errors"

// ErrLocked is the error if another process has the lock.
var ErrLocked = errors.New("locked by another process")
