package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

func (l *Log) stream() string  { return "PARLEY_" + l.o.Name + "_LOG" }
func (l *Log) subject() string { return "parley." + l.o.Name + ".log" }

// maxMessage is more than any record of a cluster has.
const maxMessage = 768 << 10

func (l *Log) config(replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: l.stream(), Description: "Log of the Parley cluster " + l.o.Name,
		Subjects: []string{l.subject()}, Replicas: replicas, Storage: jetstream.FileStorage,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxMsgSize: maxMessage,
		AllowDirect: true, DenyDelete: true, Duplicates: time.Second,
	}
}

// ErrNoStream: the stream is not there. It is made once in a cluster's life, and
// never by a node that starts: one that was lost must not begin anew unseen.
var ErrNoStream = errors.New("the cluster has no stream")

// ErrSetting: the stream does not keep what it is given, or hides it.
var ErrSetting = errors.New("a setting of the stream is wrong")

// ErrServer: the server is too old to be read from, see [Log.Read].
var ErrServer = errors.New("the server of NATS is too old")

// leastServer is the first version that answers several messages at once.
const leastServer = "2.11"

// reads reports whether a server of that version does. Of what is no version, yes.
func reads(version string) bool {
	var major, minor, least int
	if _, err := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor); err != nil {
		return true
	}
	_, _ = fmt.Sscanf(leastServer, "2.%d", &least) // a constant
	return major > 2 || major == 2 && minor >= least
}

// Make makes the stream, and the stores of bodies and snapshots. replicas is 1, 3 or 5,
// and as many servers are needed.
func (l *Log) Make(ctx context.Context, replicas int) error {
	// Servers that have not elected a leader yet do not answer at all.
	ctx, cancel := context.WithTimeout(ctx, 3*l.o.Timeout)
	defer cancel()
	if _, err := l.js.CreateStream(ctx, l.config(replicas)); err != nil {
		return fmt.Errorf("make stream %s: %w", l.stream(), l.why(err))
	}
	for bucket, what := range map[string]string{l.bucket(): "Large requests", l.snapshots(): "Snapshots"} {
		_, err := l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: bucket, Description: what + " of the Parley cluster " + l.o.Name, Replicas: replicas, Storage: jetstream.FileStorage,
		})
		if err != nil {
			return fmt.Errorf("make object store %s: %w", bucket, err)
		}
	}
	return nil
}

// Remake deletes the stream and makes it again, empty and with as many replicas.
func (l *Log) Remake(ctx context.Context) error {
	info, err := l.info(ctx)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, 3*l.o.Timeout)
	defer cancel()
	if err := l.js.DeleteStream(within, l.stream()); err != nil {
		return fmt.Errorf("delete stream %s: %w", l.stream(), l.why(err))
	}
	return l.Make(ctx, info.Config.Replicas)
}

// Check reports whether the stream is there and keeps what it is given. The
// error is [ErrNoStream], [ErrServer], or says which setting is wrong. A client cannot see
// whether the servers write to disk before they acknowledge (sync_interval).
func (l *Log) Check(ctx context.Context) error {
	info, err := l.info(ctx)
	if err != nil {
		return err
	}
	if v := l.conn.ConnectedServerVersion(); v != "" && !reads(v) {
		return fmt.Errorf("%w: the server of NATS is version %s, a cluster needs %s or newer", ErrServer, v, leastServer)
	}
	c, want := info.Config, l.config(info.Config.Replicas)
	for _, s := range []struct {
		name      string
		got, want any
	}{
		{"subjects", strings.Join(c.Subjects, " "), l.subject()},
		{"storage", c.Storage, want.Storage},
		{"retention", c.Retention, want.Retention},
		{"discard", c.Discard, want.Discard},
		{"max_age", c.MaxAge, want.MaxAge},
		{"max_msgs_per_subject", max(c.MaxMsgsPerSubject, 0), int64(0)},
		{"allow_direct", c.AllowDirect, want.AllowDirect},
		{"deny_delete", c.DenyDelete, want.DenyDelete},
		{"allow_rollup_hdrs", c.AllowRollup, want.AllowRollup},
		{"sealed", c.Sealed, want.Sealed},
		{"compression", c.Compression, want.Compression},
	} {
		if s.got != s.want {
			return fmt.Errorf("%w: stream %s has %s %v, a cluster's log needs %v: change it with the command line of NATS", ErrSetting, l.stream(), s.name, s.got, s.want)
		}
	}
	if c.MaxMsgSize >= 0 && c.MaxMsgSize < maxMessage {
		return fmt.Errorf("%w: stream %s has max_msg_size %d, a cluster's log needs %d or more: change it with the command line of NATS", ErrSetting, l.stream(), c.MaxMsgSize, maxMessage)
	}
	return nil
}

// End asks the stream's leader for the numbers of the first and last messages: who gets an
// answer could append now. Where there are none, first is behind last.
func (l *Log) End(ctx context.Context) (first, last uint64, err error) {
	s, err := l.State(ctx)
	return s.First, s.Last, err
}

func (l *Log) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	s, err := l.js.Stream(ctx, l.stream())
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("%w %s", ErrNoStream, l.stream())
	}
	if err != nil {
		return nil, fmt.Errorf("ask for stream %s: %w", l.stream(), l.why(err))
	}
	return s.CachedInfo(), nil
}
