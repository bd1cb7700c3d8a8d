package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/cluster/jetstream"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/masterkey"
	"github.com/parley-search/parley/host/internal/task"
)

// A member is this host as a node of a cluster: what follows the cluster's log, and
// what it does while it leads.
type member struct {
	Options
	db     *store.Store
	sealer *store.Sealer
	log    *jetstream.Log
	node   *cluster.Node
	key    cluster.Key
	url    string
	parts  Parts

	leads atomic.Uint64 // the term that this node leads, ready for writes; 0: none

	mu   sync.Mutex
	news store.Changed // that memory does not have yet; its indexes aside
	told uint64        // the message that it is of
	seen uint64        // the message up to which memory is in step
	wake chan struct{}
	done chan struct{} // closed and replaced whenever seen moves on

	plugs     chan struct{} // has a value when the shared plugins changed
	plugging  sync.Mutex    // one change of them at a time
	unplugged atomic.Pointer[string]

	kept atomic.Pointer[kept] // of NATS, when this node looked last; nil: it did not

	wanted chan struct{} // has a value when somebody asks for a snapshot
	shots  sync.Mutex
	shot   shot
}

// openMember makes the host a node of the cluster that its configuration names. Nothing goes
// on until [member.Start].
func openMember(ctx context.Context, o Options) (*member, error) {
	m := &member{Options: o, wake: make(chan struct{}, 1), done: make(chan struct{}), plugs: make(chan struct{}, 1), wanted: make(chan struct{}, 1), shot: shot{next: make(chan struct{})}}
	c := &m.Config
	m.url = c.Cluster.Advertise
	if m.url == "" {
		m.url = "http://" + o.Addr.String()
		if c.TLS.Cert != "" {
			m.url = "https://" + o.Addr.String()
		}
	}
	var err error
	if m.db, err = store.OpenShared(c.DBPath); err != nil {
		return nil, err
	}
	if m.db, err = m.catchUp(ctx); err != nil {
		return nil, err
	}
	o.OnClose("the database", m.db.Close)
	if m.sealer, err = masterkey.OpenSharedSealer(ctx, *c, m.db, o.Log); err != nil {
		return nil, err
	}
	if err := m.join(); err != nil {
		return nil, err
	}
	if _, err := m.takePlugins(ctx); err != nil {
		o.Log.Error().Err(err).Msg("this node does not run the plugins of the cluster")
	}
	return m, nil
}

// join connects the node to the cluster's log.
func (m *member) join() (err error) {
	c := &m.Config
	event := func(msg string, err error) {
		e := m.Log.Info()
		if err != nil {
			e = m.Log.Warn().Err(err)
		}
		e.Str("cluster", c.Cluster.Name).Msg(msg)
	}
	unsigned := func() bool { return !m.signed() }
	if m.log, m.key, err = openLog(*c, event, unsigned); err != nil {
		return err
	}
	m.OnClose("the connection to NATS", func() error { m.log.Close(); return nil })
	if err := m.checkLog(event); err != nil {
		return err
	}
	if !c.Cluster.Synced {
		m.Log.Warn().Msg("nobody said that the servers of NATS write to disk before they acknowledge: with their default a power failure of most of them may lose writes; set sync_interval: always there, and --cluster-nats-synced here")
	}
	id, err := m.db.NodeID()
	if err != nil {
		return fmt.Errorf("read the name of this node: %w", err)
	}
	m.node, err = cluster.Open(cluster.Options{
		ID: id, URL: m.url, Version: m.Version, Key: m.key, Log: m.log, Database: m.db, Lease: c.Cluster.Lease,
		Send: m.log.Send, End: m.log.End, Applied: m.applied, Lead: m.lead, Event: event,
	})
	if err != nil {
		return err
	}
	m.db.Join(m.node, m.log.Bodies())
	return nil
}

func (m *member) Database() (*store.Store, *store.Sealer) { return m.db, m.sealer }

func (m *member) Notes() index.Notes { return m.db }

// maxCrashes is how often a task may be under way when a node ends. Another node takes over
// where one is cut off, which is no crash of the task's doing.
const maxCrashes = 5

func (m *member) OpenTasks(_ context.Context, p task.Processor, o task.Options) (*task.Queue, error) {
	o.MaxCrashes, o.Mixed = maxCrashes, func() bool { return !m.signed() }
	return task.NewQueue(m.db, p, o), nil
}

// OpenKeys reads the keys that there are: who leads makes the default ones.
func (m *member) OpenKeys(ctx context.Context, o auth.Options) (*auth.Service, error) {
	s := auth.New(m.db, o)
	return s, s.ReadKeys(ctx)
}

// openLog connects to the log of the cluster that c names, and returns the key of its nodes,
// too. unsigned says whether that log has no codes; nil: it has.
func openLog(c config.Config, event func(string, error), unsigned func() bool) (*jetstream.Log, cluster.Key, error) {
	if err := c.Cluster.CheckSecure(); err != nil {
		return nil, nil, config.OptionError{Err: err}
	}
	if n := len(c.MasterKey.Reveal()); n < config.MinMasterKey {
		return nil, nil, config.OptionError{Err: fmt.Errorf("option master-key has %d bytes: give that of the cluster's nodes, at least %d", n, config.MinMasterKey)}
	}
	key, err := cluster.NewKey(c.MasterKey.Reveal(), c.Cluster.Name)
	if err != nil {
		return nil, nil, err
	}
	var urls []string
	for _, u := range c.Cluster.NATS {
		urls = append(urls, u.Reveal())
	}
	log, err := jetstream.Open(jetstream.Options{
		URLs: urls, Name: c.Cluster.Name, Credentials: c.Cluster.Credentials, CA: c.Cluster.CA, Event: event,
		Key: key, AcceptsUnsigned: unsigned,
	})
	return log, key, err
}

// signed reports whether the cluster's log has codes.
func (m *member) signed() bool {
	p := m.node.Status().Position
	return p.Log == 0 || p.Signed()
}

// checkLog refuses a stream that is not there, or that does not keep what it is
// given. One that cannot be asked now is no reason to end: the node serves what it
// has, within --cluster-max-lag.
func (m *member) checkLog(event func(string, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := m.log.Check(ctx)
	switch {
	case errors.Is(err, jetstream.ErrNoStream):
		return fmt.Errorf("%w: make it once, by `parley cluster create`", err)
	case errors.Is(err, jetstream.ErrSetting), errors.Is(err, jetstream.ErrServer):
		return err
	case err != nil:
		event("the cluster's log cannot be reached; trying on", err)
	}
	return nil
}

// Start begins to follow the log, for all that keeps something of the database in memory.
func (m *member) Start(p Parts) error {
	m.parts = p
	position := m.node.Status().Position
	m.seen, m.told = position.Seq, position.Seq
	if err := m.log.Hear(m.node.Hear); err != nil {
		return err
	}
	run := func(f func(context.Context)) (stop func() error) { return contain.Background(f, m.failed) }
	stopNews, stopNode := run(m.takeNews), run(m.node.Run)
	stopSnapshots, stopPlugins, stopRoom, stopLog := run(m.keepSnapshots), run(m.followPlugins), run(m.watchRoom), run(m.watchLog)
	m.OnClose("the cluster", func() error {
		_, _, _, _ = stopSnapshots(), stopPlugins(), stopRoom(), stopLog() // they have no error
		m.Resign(context.Background())                                     // where Run did not
		return errors.Join(stopNode(), stopNews())
	})
	return nil
}

// resignWait bounds what a leader does before its process ends.
const resignWait = 5 * time.Second

// Resign has this node lead no more, and the others know: they need not wait for the lease.
// Where the log is out of reach they do.
func (m *member) Resign(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, resignWait)
	defer cancel()
	if err := m.node.Resign(ctx); err != nil {
		m.Log.Warn().Err(err).Msg("this node ends without having resigned: the others wait for the lease")
	}
}

// checkKey wants the cluster's secrets sealed under this node's master key.
func (m *member) checkKey() error {
	sealed, err := m.db.SealedUnder()
	if err == nil && sealed != "" && sealed != m.sealer.Name() {
		err = errors.New("the master key is not that of the cluster: give all nodes the same")
	}
	return err
}

// lead does what only the leader does, until ctx ends with its term.
func (m *member) lead(ctx context.Context) {
	term := m.node.Status().Position.Term
	for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, 30*time.Second) {
		err := contain.Call(func() error { return m.leadTerm(ctx, term) })
		if ctx.Err() != nil {
			break
		}
		m.Log.Error().Err(err).Dur("again_in", pause).Msg("this node cannot take the cluster's writes")
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	m.parts.Tasks.Forget()
}

// leadTerm takes writes and applies tasks until ctx ends with the term.
func (m *member) leadTerm(ctx context.Context, term uint64) error {
	if err := m.beginTerm(ctx, term); err != nil {
		return err
	}
	m.leads.Store(term)
	defer m.leads.Store(0)
	m.Log.Info().Uint64("term", term).Msg("this node takes the cluster's writes")
	stopSnapshots, stopSweep := m.scheduleSnapshots(m.parts.Tasks), contain.Background(m.sweepShelf, m.failed)
	defer func() { _, _ = stopSnapshots(), stopSweep() }() // they have no error
	return m.parts.Tasks.Run(ctx)
}

// sweepShelf forgets bodies that an earlier leader left. It is beside the term, and not before it:
// the servers of NATS elect for each stream who leads it, and this one may have nobody yet.
func (m *member) sweepShelf(ctx context.Context) {
	if err := m.db.SweepShelf(ctx); err != nil && ctx.Err() == nil {
		m.Log.Warn().Err(err).Msg("old bodies of the cluster stay for now")
	}
}

// beginTerm brings the node from following to taking writes. What is read of the
// database before the term is admitted is what writes go by.
func (m *member) beginTerm(ctx context.Context, term uint64) error {
	if err := m.checkKey(); err != nil {
		return err
	}
	if err := m.waitSeen(ctx, m.node.Status().Position.Seq); err != nil {
		return err
	}
	if err := m.parts.Tasks.ReadLog(ctx); err != nil {
		return err
	}
	m.db.Admit(term)
	if err := m.db.CheckKey(m.sealer); err != nil {
		return err
	}
	if err := m.parts.Keys.SeedKeys(ctx); err != nil {
		return err
	}
	if err := m.parts.Search.Lead(ctx); err != nil {
		return err
	}
	return m.parts.Tasks.ResumeTasks(ctx)
}
