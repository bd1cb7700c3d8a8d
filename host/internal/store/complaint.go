package store

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
)

// A complaint keeps the last error that Badger logged: one that it retries for
// ever, such as a table that the disk does not take, is told nowhere else.
type complaint struct{ last atomic.Pointer[string] }

var _ badger.Logger = (*complaint)(nil)

// Errorf implements [badger.Logger].
func (c *complaint) Errorf(format string, args ...any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	c.last.Store(&text)
}

// Warningf, Infof and Debugf implement [badger.Logger]. They do nothing.
func (*complaint) Warningf(string, ...any) {}
func (*complaint) Infof(string, ...any)    {}
func (*complaint) Debugf(string, ...any)   {}

// Complaint is the last error that a database met by itself, for the operator;
// empty: none.
func (c *complaint) Complaint() string {
	if last := c.last.Load(); last != nil {
		return *last
	}
	return ""
}
