package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/cluster/jetstream"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// OptionNames are the options that [Create] heeds.
func OptionNames() []string {
	return []string{"cluster-name", "cluster-nats", "cluster-nats-creds", "cluster-nats-ca", "cluster-insecure", "master-key"}
}

// Create makes the log of the cluster that c names, which replicas servers keep, and
// begins it. What is there is left as it is; the error says where it is something else.
func Create(ctx context.Context, c config.Config, replicas int, version string) error {
	log, key, err := openLog(c, nil, nil)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.Make(ctx, replicas); err != nil {
		return err
	}
	if err := log.Check(ctx); err != nil {
		return err
	}
	_, end, err := log.End(ctx)
	if err == nil && end == 0 {
		_, err = cluster.Found(ctx, log, key, version)
	}
	return err
}

// A Joined says with what a node begins.
type Joined struct {
	Log     string `json:"log"`
	Message uint64 `json:"message"`
	Bytes   uint64 `json:"bytes"`
}

// Join puts the newest snapshot of the cluster that c names into the data
// directory c.DBPath, in place of what a node has there. No host runs there. With
// replace it may be of another log, which is lost then.
func Join(ctx context.Context, c config.Config, replace bool) (*Joined, error) {
	db, err := store.OpenShared(c.DBPath)
	if err != nil {
		return nil, err
	}
	p, err := db.Position()
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	log, _, err := openLog(c, nil, nil)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	newest, err := newestSnapshot(ctx, log)
	if err != nil {
		return nil, err
	}
	id := newest.Log
	if p.Log != 0 && p.Log != id && !replace {
		return nil, fmt.Errorf("this data directory is of log %016x, the cluster has %016x: with --replace what is here is lost", p.Log, id)
	}
	if p.Log == id && p.Seq >= newest.Seq {
		return nil, fmt.Errorf("this node has message %d, the newest snapshot only %d: start it", p.Seq, newest.Seq)
	}
	if p, err = restoreFrom(ctx, log, *newest, c.DBPath); err != nil {
		return nil, err
	}
	return &Joined{fmt.Sprintf("%016x", p.Log), p.Seq, newest.Bytes}, nil
}

// Reset makes what the node with the data directory c.DBPath has the begin
// of a new log, for a stream that was lost or that its nodes disagree about. No
// host runs there, and the stream has to be empty.
func Reset(ctx context.Context, c config.Config) (*Joined, error) {
	if err := emptyLog(ctx, c); err != nil {
		return nil, err
	}
	db, err := store.OpenShared(c.DBPath)
	if err != nil {
		return nil, err
	}
	p, err := db.Position()
	id := cmp.Or(rand.Uint64(), 1)
	if err == nil {
		err = db.ResetLog(id)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return &Joined{Log: fmt.Sprintf("%016x", id), Message: p.Seq}, nil
}

// emptyLog makes sure that the stream of the cluster that c names is empty, for a log that
// begins with what a node has.
func emptyLog(ctx context.Context, c config.Config) error {
	log, key, err := openLog(c, nil, nil)
	if err != nil {
		return err
	}
	defer log.Close()
	state, err := log.State(ctx)
	switch {
	case err != nil || state.Last == 0:
		return err
	case state.Last == 1:
		return remakeFounded(ctx, log, key)
	}
	return fmt.Errorf("the cluster's stream has had %d messages: a new log begins in an empty one: end all nodes, delete the stream by NATS' own command, make it again by `parley cluster create`", state.Last)
}

// newestSnapshot returns the newest one of the cluster's log. Where the stream was purged of
// all messages, that of the snapshots themselves says which log it was.
func newestSnapshot(ctx context.Context, log *jetstream.Log) (*jetstream.Snapshot, error) {
	id, err := log.ID(ctx)
	if err != nil {
		return nil, err
	}
	list, err := log.Snapshots(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("the cluster keeps no snapshot yet: `parley cluster snapshot` has its leader make one now")
	}
	return &list[0], nil
}

// remakeFounded makes the stream again where it has what `parley cluster create` begins a log
// with, and nothing else: the log that comes begins with what a node has.
func remakeFounded(ctx context.Context, log *jetstream.Log, key cluster.Key) error {
	list, err := log.Read(ctx, 1)
	if err != nil {
		return err
	}
	if len(list) != 1 || !cluster.IsFounding(list[0].Record, key) {
		return errors.New("the cluster's stream has a message that is not what `parley cluster create` begins a log with: delete the stream by NATS' own command, and make it again")
	}
	return log.Remake(ctx)
}
