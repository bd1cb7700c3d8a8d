// Package task keeps the log of accepted work and applies it in order.
//
// A task is a value: accepted means written down, and applying the log from
// any point again ends in the same state. So a crash loses nothing, and the
// log can be another one (see [Log]) without the rest noticing.
package task

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// A Type says what a task does.
type Type string

// The types of tasks, by their names on the wire.
const (
	IndexCreation    Type = "indexCreation"
	IndexUpdate      Type = "indexUpdate"
	IndexDeletion    Type = "indexDeletion"
	IndexSwap        Type = "indexSwap"
	DocumentAddition Type = "documentAdditionOrUpdate"
	DocumentDeletion Type = "documentDeletion"
	SettingsUpdate   Type = "settingsUpdate"
	Cancelation      Type = "taskCancelation"
	Deletion         Type = "taskDeletion"
	DumpCreation     Type = "dumpCreation"
	SnapshotCreation Type = "snapshotCreation"
	Export           Type = "export"
)

// Types lists all types.
func Types() []Type {
	return []Type{
		DocumentAddition, DocumentDeletion, SettingsUpdate,
		IndexCreation, IndexUpdate, IndexDeletion, IndexSwap, Cancelation, Deletion,
		DumpCreation, SnapshotCreation, Export,
	}
}

// Deletes reports whether tasks of t make room on the disk, and so are accepted on one that
// is nearly full.
func (t Type) Deletes() bool {
	return t == DocumentDeletion || t == IndexDeletion || t == Deletion || t == Cancelation
}

// Absent lists types that clients know and that no task here is of.
func Absent() []Type {
	return []Type{"documentEdition", "upgradeDatabase", "indexCompaction", "networkTopologyChange", "dsrUpdate", "dsrClear"}
}

// A Status is where a task stands.
type Status string

// The statuses, in the order that a task takes them.
const (
	Enqueued   Status = "enqueued"
	Processing Status = "processing"
	Succeeded  Status = "succeeded"
	Failed     Status = "failed"
	Canceled   Status = "canceled"
)

// Statuses lists all statuses.
func Statuses() []Status {
	return []Status{Enqueued, Processing, Succeeded, Failed, Canceled}
}

// A Task is accepted work and what came of it.
type Task struct {
	UID      uint32
	Key      string `json:",omitempty"` // the API key that sent it; "": the master key, or none
	IndexUID string // "" where it concerns several indexes, or none
	// Indexes are those that a task concerns, where they are several.
	Indexes    []string `json:",omitempty"`
	BatchUID   *uint32  `json:",omitempty"` // nil before it is processed
	CanceledBy *uint32  `json:",omitempty"` // the task that canceled it
	Body       string   `json:",omitempty"` // see [New]; "" once it is finished
	BodySize   int64    `json:",omitempty"`
	Origin     string   `json:",omitempty"` // see [New]
	Metadata   string   `json:",omitempty"` // see [New]
	Begun      bool     `json:",omitempty"` // something of it may be written: too late to cancel it
	Crashes    int      `json:",omitempty"` // how often the process ended while it was applied
	Type       Type
	Status     Status
	Details    json.RawMessage // an object, by type; never empty
	Error      *Error          // of a failed task
	EnqueuedAt time.Time
	StartedAt  time.Time // zero before
	FinishedAt time.Time // zero before
}

// An Error is why a task failed, as its client sees it.
type Error struct {
	Code    string // name of an [apierr.Code]
	Type    string
	Message string
}

// Summary is what the client of t is told when it is accepted.
func (t *Task) Summary() Summary {
	return Summary{TaskUID: t.UID, IndexUID: t.IndexUID, Status: t.Status, Type: t.Type, EnqueuedAt: t.EnqueuedAt, Metadata: t.Metadata}
}

// Finished reports whether nothing more happens to t.
func (t *Task) Finished() bool {
	return t.Status == Succeeded || t.Status == Failed || t.Status == Canceled
}

// Concerns returns the indexes that t is about.
func (t *Task) Concerns() []string {
	if t.IndexUID != "" && t.Indexes == nil {
		return []string{t.IndexUID}
	}
	return t.Indexes
}

// Duration is the time that applying t took, zero while it is not finished.
func (t *Task) Duration() time.Duration {
	if t.FinishedAt.IsZero() || t.StartedAt.IsZero() {
		return 0
	}
	return t.FinishedAt.Sub(t.StartedAt)
}

// ISO8601 is d as a client reads it: "PT1.5S". Hours and days are given in
// seconds, as clients of this API expect.
func ISO8601(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	s := fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second)
	return "PT" + strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + "S"
}

// A New is work to enqueue. Package search makes them, checked.
type New struct {
	Type     Type
	Key      string // see [Task]
	IndexUID string
	Indexes  []string // see [Task]
	// Details is what the client may see before the task is applied: an object.
	Details json.RawMessage
	// Payload is what the [Processor] needs; dropped when the task is finished.
	Payload []byte
	// Body is the name of a body that is too large for a payload, "" without
	// one. It goes where the payload goes.
	Body     string
	BodySize int64
	// Origin is by what a node of a cluster that sent the request on finds the task; "": no
	// node did.
	Origin string
	// Metadata is the client's own note, which its task shows; "" without one.
	Metadata string
	// Needs is what of the task builds before 0.3 would pass over, in the words of a client;
	// "": nothing.
	Needs string
	Replica
}

// A Replica says how a task is accepted where the log follows that of another
// instance. The zero value is for one that follows nobody.
type Replica struct {
	UID    *uint32 // the number that the task is to have, which is past all that there were; nil: the next one
	DryRun bool    // nothing is accepted; the summary is what it would be
}

// MaxUID is the largest number that a task may be given.
const MaxUID = 1<<32 - 2

// Work is a task to apply, with its payload.
type Work struct {
	Task
	Payload []byte
	// OpenBody opens its body, where it has one.
	OpenBody func() (io.ReadCloser, error)
}

// An Outcome is what came of one task.
type Outcome struct {
	Details json.RawMessage `json:",omitempty"` // replaces the task's where not nil
	Err     *Error          `json:",omitempty"` // nil: succeeded
}

// Fail is err as a task keeps it; see [apierr.From] for one that is not ours to
// show.
func Fail(err error) *Error {
	e := apierr.From(err)
	return &Error{Code: e.Code.String(), Type: e.Code.Type(), Message: e.Message}
}
