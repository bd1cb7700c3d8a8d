//go:build !wasip1

package provider

import "time"

// Now returns the time in milliseconds since 1970.
func Now() int64 { return time.Now().UnixMilli() }
