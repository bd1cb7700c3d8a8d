// Package telemetry makes usage metrics: it takes events on the way of a
// request, hands them to collectors, seals what those say of a window as
// messages, and delivers these. Off means that none of it exists: a nil
// [*Ring] and a nil [*Engine] take everything and do nothing.
//
// What a collector may be told is package abi/event, what it may say is its
// manifest; see docs there. The way of an event:
//
//	Emit → Ring → Engine → Instance.Observe
//	each hour: Instance.Flush → checks → Message → Spool → Courier → Sender
package telemetry

import (
	"context"
	"time"

	"github.com/parley-search/parley/abi"
)

// A Collector is a collector plugin of one version. It stays usable until
// [Engine.Use] has returned without it.
type Collector interface {
	Manifest() *abi.Manifest
	SHA256() string
	// Outbound reports whether its messages may leave the machine: it is one of
	// the program's own, or the operator pinned it for that.
	Outbound() bool
	// Start makes an instance with an empty window.
	Start() (Instance, error)
}

// An Instance keeps the window of one collector. One call at a time. After an
// error it is of no use any more.
type Instance interface {
	// Observe hands over count event records.
	Observe(records []byte, count int) (taken int, err error)
	// Flush appends the window's metric records to dst; with reset the window
	// ends.
	Flush(reset bool, dst []byte) ([]byte, error)
	// Save appends the state of the window to dst; nothing where it cannot.
	Save(dst []byte) ([]byte, error)
	// Load gives a state back; false where it cannot be taken.
	Load(state []byte) (taken bool, err error)
	// Worn reports whether a new instance should go on with the window.
	Worn() bool
	Close()
}

// A Message is what one collector says of one window, sealed: its bytes are
// what is shown, kept and sent, and never change.
type Message struct {
	ID        string // UUID, from instance, collector, version, window and part
	Collector string
	Version   string
	Window    uint64
	Outbound  bool // it may leave the machine
	Body      []byte
}

// A Window is what all collectors said of one window.
type Window struct {
	Number   uint64
	Sealed   time.Time
	Messages []Message // those that do not leave the machine among them
}

// A Delivery is one request to a platform, and what came of it.
type Delivery struct {
	At       time.Time   `json:"at"`
	To       string      `json:"to"`
	Outcome  string      `json:"outcome"` // an HTTP status, or what kept the request from having one
	Taken    bool        `json:"taken"`   // the platform has the messages
	Bytes    int         `json:"bytes"`   // of the request's body
	Messages []Delivered `json:"messages"`
}

// Delivered is one message of a [Delivery].
type Delivered struct {
	ID        string `json:"id"`
	Collector string `json:"collector"`
	Version   string `json:"version"`
	Window    uint64 `json:"window"`
}

// A Spool keeps messages until they are delivered, the window under way, and
// for a while the windows and deliveries that are over. All of it is bounded:
// the oldest go first, and messages that go undelivered are counted.
// Implementations are safe for concurrent use.
type Spool interface {
	// State returns what was last kept, or nil.
	State(ctx context.Context) ([]byte, error)
	// Keep replaces the state, and adds in the same step the messages of a
	// window that ended: to those that wait, where they are outbound, and to the
	// last windows.
	Keep(ctx context.Context, state []byte, sealed []Message, now time.Time) error
	// Pending returns the oldest messages that are not in quarantine.
	Pending(ctx context.Context, limit int) ([]Message, error)
	// Delete removes messages that wait by their ids; one that is not there is
	// no error.
	Delete(ctx context.Context, ids []string) error
	// Quarantine keeps a message from being pending until it is dropped, at
	// that time; Quarantined returns those.
	Quarantine(ctx context.Context, id string, until time.Time) error
	Quarantined(ctx context.Context) ([]Message, error)
	// Windows returns the last windows, the newest first.
	Windows(ctx context.Context, limit int) ([]Window, error)
	// Note adds to the deliveries; Deliveries returns the last ones, the oldest
	// first.
	Note(ctx context.Context, d Delivery) error
	Deliveries(ctx context.Context) ([]Delivery, error)
	// Usage says what the spool holds.
	Usage(ctx context.Context) (Usage, error)
}

// Usage is what a [Spool] holds.
type Usage struct {
	Pending     int   `json:"pending"`     // messages to be delivered
	Quarantined int   `json:"quarantined"` // messages that the platform refused
	Bytes       int64 `json:"bytes"`       // of both
	Dropped     int64 `json:"dropped"`     // messages that went for want of room or for their age
}
