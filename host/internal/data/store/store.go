// Package store keeps everything durable in one Badger database. It owns
// Badger: other packages declare what they need kept, and a file here of their
// name implements it.
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/badgerdir"
	"github.com/parley-search/parley/host/internal/base/contain"
)

// The keys of the database. A new kind of record gets a line here first, and
// a line here is never given another meaning. Numbers are big-endian, so that
// a scan is in order.
//
//	m/format                  => the data format's number as text
//	m/keys                    => 1 once the default keys were made
//	m/traits                  => 1 where the tasks have their x/ and y/
//	m/features                => the features that were switched, as a JSON object of booleans
//	m/launched                => when a host first ran on this database, in RFC 3339 to the hour
//	m/network                 => network.Network as JSON, its keys sealed
//	m/sealing                 => name of the key that secrets are sealed under, see Sealer.Name
//	m/imported                => 1 from an import until its secrets are sealed under the host's own key
//	m/anew                    => 1 while all z/ are in force
//	w/<uid>                   => workspace.Workspace as JSON, its key sealed
//	f/<workspace>/<uuid>      => workspace.Feedback as JSON; the uuids are in the order of time
//	k/<uid>                   => auth.Key as JSON (no key material)
//	i/<uid>                   => search.Meta of an index as JSON
//	d/<docs>/<id>             => a document: its search.Document.Seq in 8 bytes, its JSON
//	v/<docs>/<set, 4>/<id>    => a document's vectors of one embedder, see search.docVectors
//	o/<docs>/<task, 4><n, 4>  => ids that a task's transaction n changed and bleve may not hold yet, a line each
//	t/<uid, 4>                => task.Task as JSON
//	p/<uid, 4>                => payload of a task that is not finished; a large body is a file of bodies/ beside the database
//	r/<uid, 4>                => outcome of a task that is applied and not marked finished yet
//	b/<uid, 4>                => task.Batch as JSON
//	z/<key>                   => the value that key gets, once m/anew says so
//	e/<uid, 4>                => how far an export is, as JSON, until it is finished
//	u/<k or w>/<uid>/<span>   => tokens that a key's (k) or workspace's (w) budget has as spent in a span, in 8 bytes; see limit.Storage
//	n/<k or w>/<uid>/<span>   => limit.Counts of a span as JSON. A span is its period, a colon, its start in Unix time
//	x/<kind><trait><value>/<n, 2> => of the tasks (kind t) or batches (b) whose uid has n as its upper half, those that
//	                             have a value: a roaring bitmap of the lower halves. Traits: s status, y type, i index, c canceledBy
//	y/<kind><date><time, 8><uid, 4> => nothing: when a task or batch was enqueued (e), started (s), finished (f), in nanoseconds
//
// Records below l/ are of one node of a cluster alone: the others have their own.
//
//	j/lock                    => plugins.lock of the plugins that a cluster shares
//	j/m/<sha256>              => a module of it: the length of its signature as a uvarint, the signature, the module
//	l/position                => cluster.Position: how far into the cluster's log this database is
//	l/node                    => name of this node in its cluster
//	l/f/<docs>                => keptFolder as JSON: the bleve folder of an index here, and the message up to which it has the words
//	l/u/…, l/n/…, l/m/launched => u/, n/ and m/launched of this node
//	l/o/<docs>/<seq, 8><n, 4> => ids that message seq of the log changed and bleve may not hold yet, a line each; n counts within the message
const (
	prefixMeta      = "m/"
	prefixWorkspace = "w/"
	prefixFeedback  = "f/"
	prefixKey       = "k/"
	prefixIndex     = "i/"
	prefixDocument  = "d/"
	prefixVector    = "v/"
	prefixOutbox    = "o/"
	prefixTask      = "t/"
	prefixPayload   = "p/"
	prefixOutcome   = "r/"
	prefixBatch     = "b/"
	prefixExport    = "e/"
	prefixTrait     = "x/"
	prefixDate      = "y/"
	prefixAnew      = "z/"
	prefixSpent     = "u/"
	prefixCounts    = "n/"
	prefixModule    = "j/m/"
	prefixLocal     = "l/"
	prefixNote      = "l/o/"
	prefixFolder    = "l/f/"

	keyFeatures   = prefixMeta + "features"
	keyNetwork    = prefixMeta + "network"
	keyWebhooks   = prefixMeta + "webhooks"
	keyLaunched   = prefixMeta + "launched"
	keySealing    = prefixMeta + "sealing"
	keyImported   = prefixMeta + "imported"
	keyAnew       = prefixMeta + "anew"
	keySharedLock = "j/lock"
	keyPosition   = prefixLocal + "position"
	keyNode       = prefixLocal + "node"
)

// Format is the number of the data format that this build writes.
const Format = "1"

// A Store is an open database. Safe for concurrent use.
type Store struct {
	db   *badger.DB
	lock *os.File

	free      func() (uint64, error) // bytes that the disk has left; nil: no disk
	bodies    string                 // directory of bodies too large for a payload
	temporary bool                   // it goes with the store
	shared    *shared                // on a node of a cluster; nil: this is the only one
	shelf     BodyShelf              // where the nodes of a cluster keep bodies; nil: there is none
	ownPrefix string                 // of what each node of a cluster has for itself

	// ReleasedBallast: the disk was too full to open the database, but for what is kept for that.
	ReleasedBallast bool

	badgerdir.Log

	stop chan struct{} // ends reclaim
	done chan struct{} // closed once it has ended
}

// Exists reports whether there is a database below dir, or may be: its folder is there and
// cannot be read.
func Exists(dir string) bool { return hasAny(filepath.Join(dir, "badger")) }

// hasAny reports whether a folder has anything in it, or may have: it cannot be read.
func hasAny(dir string) bool {
	entries, err := os.ReadDir(dir)
	own := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != "lost+found" }) // which a disk of its own has
	return own || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// checkNotLost returns an error where dir has what goes with a database, and none: to begin
// an empty one there would remove that as left over.
func checkNotLost(dir string) error {
	for _, name := range []string{"indexes", "bodies"} {
		if hasAny(filepath.Join(dir, name)) && !Exists(dir) {
			return fmt.Errorf("%s has files, but the database, in badger beside it, is gone: put it back (is its disk mounted?), restore a backup with --import-snapshot or --import-dump, or move the data directory away to begin an empty one", filepath.Join(dir, name))
		}
	}
	return nil
}

// Open opens, or makes, the database below dir. One process at a time: the
// error names the one that has it.
func Open(dir string) (*Store, error) { return openDir(dir, false) }

// OpenShared opens, or makes, the database of a node of a cluster. Call
// [Store.Join] before anything is changed.
func OpenShared(dir string) (*Store, error) { return openDir(dir, true) }

func openDir(dir string, joins bool) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data directory (--db-path): %w", err)
	}
	lock, err := LockDir(dir)
	if err != nil {
		return nil, err
	}
	released, err := badgerdir.MakeRoom(dir)
	switch {
	case err != nil:
	case joins:
		err = sweepRestore(dir)
	default:
		err = checkNotLost(dir)
	}
	var s *Store
	if err == nil {
		s, err = open(badger.DefaultOptions(filepath.Join(dir, "badger")).WithSyncWrites(true), filepath.Join(dir, "bodies"))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database in %s: %w", dir, err), lock.Close())
	}
	if err := s.checkOwner(joins); err != nil {
		return nil, errors.Join(fmt.Errorf("open database in %s: %w", dir, err), s.db.Close(), lock.Close())
	}
	s.lock, s.free, s.ReleasedBallast = lock, badgerdir.FreeBelow(dir), released
	badgerdir.KeepBallast(dir, newReserve)
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go s.reclaim(dir)
	return s, nil
}

// reclaimEvery is how often the space of large values that are gone, such as
// payloads of finished tasks, is looked for.
const reclaimEvery = 10 * time.Minute

// reclaim gives space back until Close, and takes the ballast's again once there is enough.
func (s *Store) reclaim(dir string) {
	defer close(s.done)
	tick := time.NewTicker(reclaimEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.reclaimValues()
			badgerdir.KeepBallast(dir, newReserve)
		}
	}
}

// reclaimValues gives back the space of large values that are gone. What is left of a file of them is
// written anew first, for which there must be room.
func (s *Store) reclaimValues() {
	// One file a call, until there is none worth it; it says so by an error.
	for s.room(reserve) == nil && contain.Call(func() error { return s.db.RunValueLogGC(0.5) }) == nil {
	}
}

// OpenInMemory opens an empty database that goes with the process, for tests.
func OpenInMemory() (*Store, error) {
	bodies, err := os.MkdirTemp("", "parley-bodies-")
	if err != nil {
		return nil, fmt.Errorf("make directory of bodies: %w", err)
	}
	s, err := open(badger.DefaultOptions("").WithInMemory(true), bodies)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(bodies))
	}
	s.temporary = true
	return s, nil
}

func open(o badger.Options, bodies string) (*Store, error) {
	if err := badgerdir.Prepare(o.Dir); err != nil {
		return nil, err
	}
	if err := settleMemtables(o); err != nil {
		return nil, err
	}
	s := &Store{bodies: bodies}
	db, err := badger.Open(sized(o).WithLogger(&s.Log))
	if err != nil {
		return nil, err
	}
	s.db = db
	err = s.checkFormat()
	if err == nil {
		err = s.finishReseal()
	}
	if err == nil {
		err = s.addTraits()
	}
	if err == nil {
		err = s.sweepBodies()
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// checkFormat writes the format's number into an empty database and refuses
// one that this build does not know.
func (s *Store) checkFormat() error {
	return s.update(func(tx txn) error {
		got, err := get(tx, []byte(prefixMeta+"format"))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return tx.Set([]byte(prefixMeta+"format"), []byte(Format))
		}
		if err != nil {
			return err
		}
		if string(got) != Format {
			return fmt.Errorf("the data is of format %.20q, this build knows format %s: run the version that wrote it", got, Format)
		}
		return nil
	})
}

// Close flushes and closes the database, where the disk has room for that.
func (s *Store) Close() error {
	if s.stop != nil {
		close(s.stop)
		<-s.done
	}
	err := badgerdir.CheckClosing(s.free)
	if err == nil {
		err = s.db.Close()
	} else {
		err = fmt.Errorf("close database: %w", err)
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	if s.temporary {
		err = errors.Join(err, os.RemoveAll(s.bodies))
	}
	return err
}
