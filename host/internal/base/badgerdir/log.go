// Package badgerdir has what each Badger database of the host needs of its folder and
// its disk, whatever is kept in it.
package badgerdir

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// A Log keeps the last error that Badger logged: one that it retries for
// ever, such as a table that the disk does not take, is told nowhere else.
type Log struct{ last atomic.Pointer[string] }

// Errorf is of Badger's interface of loggers.
func (l *Log) Errorf(format string, args ...any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	l.last.Store(&text)
}

// Warningf, Infof and Debugf are, too. They do nothing.
func (*Log) Warningf(string, ...any) {}
func (*Log) Infof(string, ...any)    {}
func (*Log) Debugf(string, ...any)   {}

// Complaint is the last error that a database met by itself, for the operator;
// empty: none.
func (l *Log) Complaint() string {
	if last := l.last.Load(); last != nil {
		return *last
	}
	return ""
}
