package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/cluster/jetstream"
	"github.com/parley-search/parley/host/internal/config"
	"github.com/parley-search/parley/host/internal/contain"
	"github.com/parley-search/parley/host/internal/feature"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/store"
	"github.com/parley-search/parley/host/internal/webhook"
)

// A member is this host as a node of a cluster: what follows the cluster's log, and
// what it does while it leads.
type member struct {
	host *Host
	log  *jetstream.Log
	node *cluster.Node
	key  cluster.Key
	url  string

	sealer   *store.Sealer
	search   atomic.Pointer[search.Service]
	auth     *auth.Service
	features *feature.Service
	webhooks *webhook.Service
	spaces   *store.Workspaces

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

	logBytes atomic.Uint64 // of the stream, when this node looked last

	wanted chan struct{} // has a value when somebody asks for a snapshot
	shots  sync.Mutex
	shot   shot
}

// joinCluster makes h a node of the cluster that c names. Nothing goes on until
// [member.start].
func (h *Host) joinCluster(c config.Config, o Options, db *store.Store) (err error) {
	m := &member{host: h, url: c.Cluster.Advertise, wake: make(chan struct{}, 1), done: make(chan struct{}), plugs: make(chan struct{}, 1), wanted: make(chan struct{}, 1), shot: shot{next: make(chan struct{})}}
	if m.url == "" {
		m.url = "http://" + h.Addr().String()
		if c.TLS.Cert != "" {
			m.url = "https://" + h.Addr().String()
		}
	}
	event := func(msg string, err error) {
		e := h.log.Info()
		if err != nil {
			e = h.log.Warn().Err(err)
		}
		e.Str("cluster", c.Cluster.Name).Msg(msg)
	}
	unsigned := func() bool { return !m.signed() }
	if m.log, m.key, err = openLog(c, event, unsigned); err != nil {
		return err
	}
	h.onClose("the connection to NATS", func() error { m.log.Close(); return nil })
	if err := m.checkLog(event); err != nil {
		return err
	}
	if !c.Cluster.Synced {
		h.log.Warn().Msg("nobody said that the servers of NATS write to disk before they acknowledge: with their default a power failure of most of them may lose writes; set sync_interval: always there, and --cluster-nats-synced here")
	}
	id, err := db.NodeID()
	if err != nil {
		return fmt.Errorf("read the name of this node: %w", err)
	}
	m.node, err = cluster.Open(cluster.Options{
		ID: id, URL: m.url, Version: o.Version, Key: m.key, Log: m.log, Database: db, Lease: c.Cluster.Lease,
		Send: m.log.Send, End: m.log.End, Applied: m.applied, Lead: m.lead, Event: event,
	})
	if err != nil {
		return err
	}
	db.Join(m.node, m.log.Bodies())
	h.cluster = m
	return nil
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

// ClusterOptions are the options that [CreateCluster] heeds.
func ClusterOptions() []string {
	return []string{"cluster-name", "cluster-nats", "cluster-nats-creds", "cluster-nats-ca", "cluster-insecure", "master-key"}
}

// CreateCluster makes the log of the cluster that c names, which replicas servers keep, and
// begins it. What is there is left as it is; the error says where it is something else.
func CreateCluster(ctx context.Context, c config.Config, replicas int, version string) error {
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

// start begins to follow the log, and returns what ends that.
func (m *member) start() (stop func() error, err error) {
	position := m.node.Status().Position
	m.seen, m.told = position.Seq, position.Seq
	if err := m.log.Hear(m.node.Hear); err != nil {
		return nil, err
	}
	stopNews := m.host.runInBackground(m.takeNews)
	stopNode := m.host.runInBackground(m.node.Run)
	stopSnapshots, stopPlugins, stopRoom := m.host.runInBackground(m.keepSnapshots), m.host.runInBackground(m.followPlugins), m.host.runInBackground(m.watchRoom)
	return func() error {
		_, _, _ = stopSnapshots(), stopPlugins(), stopRoom() // they have no error
		m.resign(context.Background())                       // where Run did not
		return errors.Join(stopNode(), stopNews())
	}, nil
}

// startMember has the cluster's log be followed by all that keeps something of the
// database in memory.
func (h *Host) startMember(sealer *store.Sealer, keys *auth.Service, features *feature.Service) error {
	m := h.cluster
	m.sealer, m.auth, m.features, m.webhooks = sealer, keys, features, h.webhooks
	m.search.Store(h.search)
	stop, err := m.start()
	if err != nil {
		return err
	}
	h.onClose("the cluster", stop)
	h.metrics.Add(m.families)
	return nil
}

// resignWait bounds what a leader does before its process ends.
const resignWait = 5 * time.Second

// resign has this node lead no more, and the others know: they need not wait for the lease.
// Where the log is out of reach they do. A host alone has nothing to resign.
func (m *member) resign(ctx context.Context) {
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, resignWait)
	defer cancel()
	if err := m.node.Resign(ctx); err != nil {
		m.host.log.Warn().Err(err).Msg("this node ends without having resigned: the others wait for the lease")
	}
}

// checkKey wants the cluster's secrets sealed under this node's master key.
func (m *member) checkKey() error {
	sealed, err := m.host.db.SealedUnder()
	if err == nil && sealed != "" && sealed != m.sealer.Name() {
		err = errors.New("the master key is not that of the cluster: give all nodes the same")
	}
	return err
}

// lead does what only the leader does, until ctx ends with its term.
func (m *member) lead(ctx context.Context) {
	h := m.host
	term := m.node.Status().Position.Term
	for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, 30*time.Second) {
		err := contain.Call(func() error { return m.leadTerm(ctx, term) })
		if ctx.Err() != nil {
			break
		}
		h.log.Error().Err(err).Dur("again_in", pause).Msg("this node cannot take the cluster's writes")
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	h.tasks.Forget()
}

// leadTerm takes writes and applies tasks until ctx ends with the term.
func (m *member) leadTerm(ctx context.Context, term uint64) error {
	h := m.host
	if err := m.beginTerm(ctx, term); err != nil {
		return err
	}
	m.leads.Store(term)
	defer m.leads.Store(0)
	h.log.Info().Uint64("term", term).Msg("this node takes the cluster's writes")
	if h.config.ScheduleSnapshot > 0 {
		stop := h.scheduleSnapshots()
		defer func() { _ = stop() }() // it has no error
	}
	return h.tasks.Run(ctx)
}

// beginTerm brings the node from following to taking writes. What is read of the
// database before the term is admitted is what writes go by.
func (m *member) beginTerm(ctx context.Context, term uint64) error {
	h := m.host
	if err := m.checkKey(); err != nil {
		return err
	}
	if err := m.waitSeen(ctx, m.node.Status().Position.Seq); err != nil {
		return err
	}
	if err := h.db.SweepShelf(); err != nil {
		h.log.Warn().Err(err).Msg("old bodies of the cluster stay for now")
	}
	if err := h.tasks.ReadLog(ctx); err != nil {
		return err
	}
	h.db.Admit(term)
	if err := h.db.CheckKey(m.sealer); err != nil {
		return err
	}
	if err := m.auth.SeedKeys(ctx); err != nil {
		return err
	}
	if err := m.search.Load().Lead(ctx); err != nil {
		return err
	}
	return h.tasks.ResumeTasks(ctx)
}
