// Package waittest waits in tests for what tells nobody when it has happened,
// such as a file that another process writes. Where there is an event, wait for
// that; where time itself matters, use testing/synctest or package clocktest.
package waittest

import (
	"testing"
	"time"
)

// Patience is how long [For] and [Until] wait.
const Patience = time.Minute

const pause = 5 * time.Millisecond

// Until asks done again and again until it says yes, and returns its last
// answer.
func Until(done func() bool) bool {
	for until := time.Now().Add(Patience); time.Now().Before(until); time.Sleep(pause) {
		if done() {
			return true
		}
	}
	return done()
}

// For is [Until], and ends the test where what does not come about.
func For(t testing.TB, what string, done func() bool) {
	t.Helper()
	if !Until(done) {
		t.Fatalf("%s: not within %s", what, Patience)
	}
}
