package cluster

import (
	"context"
	"errors"
	"time"
)

// A Log keeps messages in one order, numbered from 1. Safe for concurrent use.
// Both methods end within seconds, also without an answer.
type Log interface {
	// Append puts messages behind the one numbered last, in their order, and
	// returns nil once all of them are there and durable. After an error it is not
	// known which of them are in the log, or will be, or at which place.
	Append(ctx context.Context, messages [][]byte, last uint64) error
	// Read returns some messages from a number on, in order and without gaps:
	// none where there are none, or where the replica that it asks has none
	// yet. Where the log begins later, it returns the first that there are.
	Read(ctx context.Context, from uint64) ([]Message, error)
}

// A Message is an entry of a [Log]. The bytes of its record are not changed.
type Message struct {
	Seq    uint64
	Record []byte
}

// A Database holds what the log is folded into.
type Database interface {
	// Position returns the position that was stored last, the zero value in a
	// new database.
	Position() (Position, error)
	// Apply makes the changes and stores the position, both or neither. After an error
	// that wraps [ErrNoRoom] it is called again with the same.
	Apply(p Position, ops []Op) error
}

// ErrNoRoom is the error of a [Database] that cannot take a message now, and could later: its
// disk is full. The node waits for room, and leads as little as one that is cut off.
var ErrNoRoom = errors.New("this node takes nothing more from the cluster's log until its disk has room again")

// Errors of a write.
var (
	// ErrNotLeader: this node does not lead. Nothing was changed, and nothing
	// will be.
	ErrNotLeader = errors.New("this node does not lead the cluster: nothing was changed")
	// ErrLost: another term began before the write. Nothing was changed, and
	// nothing will be.
	ErrLost = errors.New("the cluster got a new leader before the write: nothing was changed")
	// ErrUnknown: it was not known in time whether the write counts. It may.
	ErrUnknown = errors.New("it is not known whether the write counts")
)

// Options configure a [Node]. ID, Log and Database are needed.
type Options struct {
	ID       string // of the node, unique in the cluster
	URL      string // where others send writes
	Version  string // of the build
	Log      Log
	Database Database
	// Lease is how long a leader may be silent before others claim the log.
	// Default 2 s.
	Lease time.Duration
	// Patience is how long a write waits for the log to say whether it counts,
	// after an append without an answer. Default 8 s.
	Patience time.Duration
	// Observer: the node never claims.
	Observer bool
	// Key is that of the cluster.
	Key Key
	// Begins: the node begins a log where the stream has none. Else [Found] does, once in
	// a cluster's life: a node without data must not lead an empty cluster where others
	// have data, or where the log is not its own.
	Begins bool
	// Send sends a beat to the other nodes; default: nothing is sent. Theirs come by
	// [Node.Hear].
	Send func(Beat)
	// End asks the server that takes appends for the numbers of the log's first and last
	// messages: a write from here would get into the log now. A log that ends before
	// what the database has was cut, or made again; one whose first message is behind its
	// last has none any more. Default: it can be read.
	End func(context.Context) (first, last uint64, err error)
	// Applied is called with each transaction in order, once the database has it;
	// default: nothing is. Be quick.
	Applied func(p Position, ops []Op)
	// Lead does what only a leader does, until ctx ends with its term. It is
	// called once for each term of this node, never twice at a time. Default:
	// nothing.
	Lead func(ctx context.Context)
	// Event is called with what an operator should know; default: nothing is. err is nil
	// if nothing is wrong.
	Event func(msg string, err error)
}
