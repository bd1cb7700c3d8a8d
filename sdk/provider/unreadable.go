package provider

import (
	"bytes"
	"strconv"
)

// Unreadable is what a response had of events that cannot be read. It is for a provider's
// state; its zero value is none.
type Unreadable struct {
	Count   uint16
	Damaged bool // one of them began as JSON
}

// Skip reports whether an event that is not JSON is to be passed over, and notes it: a
// heartbeat in words, or the one event that was damaged on its way. begun: an event of the
// answer was read before.
func (u *Unreadable) Skip(begun bool, data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return true
	}
	json := data[0] == '{' || data[0] == '['
	if data[0] == '<' || json && (u.Damaged || !begun) {
		return false
	}
	u.Damaged = u.Damaged || json
	if u.Count++; u.Count == 1 || json {
		Log(LevelWarn, "an event of the response cannot be read and is skipped, number "+strconv.Itoa(int(u.Count)))
	}
	return true
}
