//go:build !wasip1

package provider

// Log writes a line to the host's log; outside a module it does nothing.
func Log(Level, string) {}
