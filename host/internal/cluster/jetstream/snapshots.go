package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/cluster"
)

// A State is what a stream holds, and who keeps it.
type State struct {
	First, Last uint64 // messages; First is Last+1 where there are none
	Bytes       uint64
	Servers     []Server // that keep it; its leader is the first
	Replicas    int      // how many servers have to keep it
}

// A Server is one of NATS that keeps a stream, as the stream's leader sees it.
type Server struct {
	Name  string
	State string // leader, current, behind or offline
}

// State asks the stream's leader. The error says so where there is none.
func (l *Log) State(ctx context.Context) (State, error) {
	info, err := l.info(ctx)
	if err != nil {
		return State{}, err
	}
	s, c := info.State, info.Cluster
	if c != nil && c.Leader == "" { // one of its servers answers for itself
		return State{}, fmt.Errorf("stream %s has no leader: its servers elect one, or most of them are away", l.stream())
	}
	out := State{First: max(s.FirstSeq, 1), Last: s.LastSeq, Bytes: s.Bytes, Replicas: info.Config.Replicas}
	if c == nil {
		out.Servers = []Server{{l.conn.ConnectedServerName(), "leader"}}
	} else {
		out.Servers = []Server{{c.Leader, "leader"}}
		for _, r := range c.Replicas {
			state := "current"
			switch {
			case r.Offline:
				state = "offline"
			case !r.Current:
				state = "behind"
			}
			out.Servers = append(out.Servers, Server{r.Name, state})
		}
	}
	return out, nil
}

// Server is the name of the server that the node is connected to; "": none.
func (l *Log) Server() string { return l.conn.ConnectedServerName() }

// ID returns which log the stream holds, by the first message with a code of a node, or where
// there are no codes yet, by the first record; 0: it has no message.
func (l *Log) ID(ctx context.Context) (uint64, error) {
	s, err := l.State(ctx)
	if err != nil || s.Last < s.First {
		return 0, err
	}
	for from := s.First; from <= s.Last; {
		list, err := l.Read(ctx, from)
		if err != nil {
			return 0, err
		}
		if len(list) == 0 {
			return 0, fmt.Errorf("read stream %s: no answer for message %d", l.stream(), from)
		}
		var unsigned uint64
		for _, m := range list { // what no node wrote says nothing
			r, err := cluster.DecodeRecord(m.Record, l.o.Key)
			if err == nil && r.Signed() {
				return r.Log, nil
			}
			if err == nil {
				unsigned = cmp.Or(unsigned, r.Log)
			}
		}
		if unsigned != 0 {
			return unsigned, nil
		}
		from = list[len(list)-1].Seq + 1
	}
	return 0, fmt.Errorf("messages %d to %d of stream %s: %w: is the master key of this node the cluster's, and --cluster-name?", s.First, s.Last, l.stream(), cluster.ErrUnverified)
}

// purgeWait bounds a purge.
const purgeWait = time.Minute

// Purge removes the messages before one, for good.
func (l *Log) Purge(ctx context.Context, before uint64) error {
	ctx, cancel := context.WithTimeout(ctx, purgeWait)
	defer cancel()
	s, err := l.js.Stream(ctx, l.stream())
	if err == nil {
		err = s.Purge(ctx, jetstream.WithPurgeSequence(before))
	}
	if err != nil {
		return fmt.Errorf("purge stream %s up to message %d: %w", l.stream(), before, err)
	}
	return nil
}

// A Snapshot is one that is kept.
type Snapshot struct {
	Log, Seq uint64 // the message that it is of
	At       time.Time
	Bytes    uint64
}

func (s *Snapshot) name() string { return fmt.Sprintf("%016x-%d", s.Log, s.Seq) }

func (l *Log) snapshots() string { return "PARLEY_" + l.o.Name + "_SNAPSHOTS" }

func (l *Log) openSnapshots(ctx context.Context) (jetstream.ObjectStore, error) {
	s, err := l.js.ObjectStore(ctx, l.snapshots())
	if err != nil {
		return nil, fmt.Errorf("open object store %s: %w", l.snapshots(), err)
	}
	return s, nil
}

// PutSnapshot keeps what write writes. It is there once PutSnapshot returns nil.
func (l *Log) PutSnapshot(ctx context.Context, log, seq uint64, write func(io.Writer) error) error {
	s, err := l.openSnapshots(ctx)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		w.CloseWithError(contain.Call(func() error { return write(w) }))
	}()
	err = l.put(ctx, s, l.snapshots(), (&Snapshot{Log: log, Seq: seq}).name(), r)
	r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	<-written
	if err != nil {
		return fmt.Errorf("keep snapshot: %w", err)
	}
	return nil
}

// Snapshots lists those of a log that a node made, the newest first; 0: of all logs, the one
// that was made last first.
func (l *Log) Snapshots(ctx context.Context, log uint64) (list []Snapshot, err error) {
	list, _, err = l.Kept(ctx, log)
	return list, err
}

// Kept is [Log.Snapshots], with when the last of them was written to a file; zero: never.
func (l *Log) Kept(ctx context.Context, log uint64) (list []Snapshot, backup time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*l.o.Timeout)
	defer cancel()
	s, err := l.openSnapshots(ctx)
	if err != nil {
		return nil, backup, err
	}
	objects, err := s.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, backup, fmt.Errorf("list snapshots: %w", err)
	}
	for _, o := range objects {
		if o.Name == backupNote && l.wrote(l.snapshots(), o) {
			backup = o.ModTime
		}
		of, at, _ := strings.Cut(o.Name, "-")
		n, err1 := strconv.ParseUint(of, 16, 64)
		seq, err2 := strconv.ParseUint(at, 10, 64)
		if err1 == nil && err2 == nil && (n == log || log == 0) && l.wrote(l.snapshots(), o) {
			list = append(list, Snapshot{n, seq, o.ModTime, o.Size})
		}
	}
	slices.SortFunc(list, func(a, b Snapshot) int {
		if log == 0 && a.Log != b.Log {
			return b.At.Compare(a.At)
		}
		return cmp.Compare(b.Seq, a.Seq)
	})
	return list, backup, nil
}

// backupNote is the object whose time is that of the last backup.
const backupNote = "backup"

// NoteBackup notes that a snapshot was written to a file now.
func (l *Log) NoteBackup(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*l.o.Timeout)
	defer cancel()
	s, err := l.openSnapshots(ctx)
	if err == nil {
		err = l.put(ctx, s, l.snapshots(), backupNote, strings.NewReader(strconv.FormatInt(time.Now().Unix(), 10)))
	}
	return err
}

// OpenSnapshot reads of, or the newest one of its log where newer ones have taken its place since
// it was listed, and returns which it reads. The reader fails at its end where it is not what was
// kept.
func (l *Log) OpenSnapshot(ctx context.Context, of Snapshot) (io.ReadCloser, Snapshot, error) {
	s, err := l.openSnapshots(ctx)
	if err != nil {
		return nil, of, err
	}
	o, err := l.get(ctx, s, l.snapshots(), of.name())
	for tries := 0; errors.Is(err, jetstream.ErrObjectNotFound) && tries < 3; tries++ {
		list, listErr := l.Snapshots(ctx, of.Log)
		if listErr != nil || len(list) == 0 {
			err = errors.Join(err, listErr)
			break
		}
		of = list[0]
		o, err = l.get(ctx, s, l.snapshots(), of.name())
	}
	if err != nil {
		return nil, of, fmt.Errorf("get snapshot %s: %w", of.name(), err)
	}
	return o, of, nil
}

// DropSnapshot forgets one.
func (l *Log) DropSnapshot(ctx context.Context, of Snapshot) error {
	ctx, cancel := context.WithTimeout(ctx, 3*l.o.Timeout)
	defer cancel()
	s, err := l.openSnapshots(ctx)
	if err == nil {
		err = s.Delete(ctx, of.name())
	}
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return err
}
