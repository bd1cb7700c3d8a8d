// Package export copies indexes to another instance: their settings and their
// documents, over that instance's own HTTP API. One export is one task.
//
// While it runs no task is applied here, so that what is copied is of one
// moment. How far it is, is written down whenever the other side has taken
// something: after a crash or a broken network it goes on from there. Documents
// that are sent twice replace themselves.
package export

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// Indexes are what is copied. See package search.
type Indexes interface {
	ExportIndexes() ([]search.Exported, error)
	ExportDocuments(ctx context.Context, uid, after string, filter json.RawMessage, take func(id string, document []byte, looked int) bool) (end int, err error)
}

// A Log keeps how far exports are, by their tasks. See package store.
type Log interface {
	// Progress returns what was put last, nil before that.
	Progress(task uint32) ([]byte, error)
	// PutProgress returns once b would survive a crash. It goes when the task's
	// end is written.
	PutProgress(task uint32, b []byte) error
}

// A Targets reaches other instances. See package upstream.
type Targets interface {
	// Target returns the instance whose API is at base; key, where there is
	// one, goes along with each request.
	Target(base *url.URL, key secret.Text) Target
}

// A Target is the instance that is copied to. No redirect is followed: the
// documents go where the operator said, and nowhere else.
type Target interface {
	// Send sends one request. An error is a [*outbound.Error]; ctx ends it.
	Send(ctx context.Context, r Request) (Answer, error)
}

// A Request is one to the other instance.
type Request struct {
	Method string
	Path   string // below the base, with its query
	Body   []byte // nil: none
	Packed bool   // Body is packed by gzip, and lines of JSON; else one JSON value
}

// An Answer is what came back.
type Answer struct {
	Status int
	Body   []byte        // the beginning of it, 64 KiB at most
	After  time.Duration // that the other side wants to be left alone; 0: it does not say
}

// Options are what a [Service] needs. The first four are required.
type Options struct {
	Indexes Indexes
	Log     Log
	Targets Targets
	Sealer  settings.Sealer // keeps API keys of waiting exports
	// Pause is waited before a request is sent again, twice as long each time up
	// to 30 times as much; default 1 s.
	Pause time.Duration
	// Patience is how long an instance that cannot be reached, or is too busy,
	// is asked again before the export fails; default 5 min.
	Patience time.Duration
	// Failed is told why an export failed, for the log; default: nobody.
	Failed func(task uint32, why error)
}

// A Service makes exports. Safe for concurrent use, but for [Service.Process].
type Service struct{ opts Options }

// New returns a Service.
func New(o Options) *Service {
	if o.Pause == 0 {
		o.Pause = time.Second
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Minute
	}
	return &Service{o}
}
