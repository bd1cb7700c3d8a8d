package node

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/cluster/clustertest"
	"github.com/parley-search/parley/host/internal/cluster/jetstream"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/task"
)

// A stuckShelf is kept by servers that elect who leads it: they do not answer.
type stuckShelf struct{ store.BodyShelf }

func (stuckShelf) PutBefore(ctx context.Context, _ time.Time) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestLeadsWithoutShelf: a node that claimed a term takes writes, also where the bodies that earlier
// leaders left cannot be listed just now, and ends the term without them.
func TestLeadsWithoutShelf(t *testing.T) {
	m := &member{Options: Options{Log: zerolog.Nop()}, done: make(chan struct{})}
	var err error
	if m.db, err = store.OpenShared(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	defer m.db.Close()
	if m.sealer, err = store.NewSealer([]byte("a master key of 26 bytes..")); err != nil {
		t.Fatal(err)
	}
	if m.node, err = cluster.Open(cluster.Options{Begins: true, ID: "a", Log: new(clustertest.Memory), Database: m.db, Lead: m.lead, Lease: 50 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	m.db.Join(m.node, stuckShelf{})
	found, err := search.Open(search.Options{Dir: t.TempDir(), DB: m.db})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	m.parts = Parts{Tasks: task.NewQueue(m.db, nil, task.Options{}), Keys: auth.New(m.db, auth.Options{}), Search: found}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); m.node.Run(ctx) }()
	waittest.For(t, "the node takes writes", func() bool { return m.leads.Load() > 0 })
	stop()
	<-ended
}

// TestIsDue makes a snapshot where there is none, where the last one is old, and where half of the log came
// after it.
func TestIsDue(t *testing.T) {
	c := &config.ClusterConfig{Snapshots: time.Hour, LogSize: 1000}
	log := jetstream.State{First: 1, Last: 100, Bytes: 1000} // ten bytes a message
	now, old := time.Now(), time.Now().Add(-2*time.Hour)
	for _, tt := range []struct {
		name string
		last *jetstream.Snapshot
		seq  uint64
		want bool
	}{
		{"none yet", nil, 1, true},
		{"nothing new", &jetstream.Snapshot{Seq: 100, At: old}, 100, false},
		{"ahead of this node", &jetstream.Snapshot{Seq: 101, At: old}, 100, false},
		{"young, little new", &jetstream.Snapshot{Seq: 60, At: now}, 100, false},
		{"young, half of the log new", &jetstream.Snapshot{Seq: 40, At: now}, 100, true},
		{"old", &jetstream.Snapshot{Seq: 99, At: old}, 100, true},
	} {
		var list []jetstream.Snapshot
		if tt.last != nil {
			list = append(list, *tt.last)
		}
		if got := isDue(c, log, list, tt.seq); got != tt.want {
			t.Errorf("%s: due %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestCommandOptions gives commands on a cluster options that there are, each once.
func TestCommandOptions(t *testing.T) {
	var known []string
	for _, o := range config.AllOptions() {
		known = append(known, o.Name)
	}
	names := OptionNames()
	for _, name := range names {
		if !slices.Contains(known, name) {
			t.Errorf("a command heeds --%s, which is no option", name)
		}
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(names))); len(unique) != len(names) || !slices.Contains(names, "master-key") {
		t.Errorf("the options are %q, want each once, and the master key among them", names)
	}
}

// TestSharesPlugins keeps plugins in the log where clients of a cluster may change them, and a lock says what runs.
func TestSharesPlugins(t *testing.T) {
	c := config.Config{PluginAPI: true}
	c.Cluster.Name = "blue"
	if !sharesPlugins(&c) {
		t.Error("a cluster whose clients change plugins does not share them")
	}
	for name, change := range map[string]func(*config.Config){
		"no cluster":      func(c *config.Config) { c.Cluster.Name = "" },
		"operators alone": func(c *config.Config) { c.PluginAPI = false },
		"no lock":         func(c *config.Config) { c.PluginLock = config.LockOff },
	} {
		other := c
		if change(&other); sharesPlugins(&other) {
			t.Errorf("%s: plugins are shared", name)
		}
	}
	r := remembered{modules: map[string][2][]byte{"abc": {[]byte("module"), []byte("signature")}}}
	if m, sig, err := r.get("abc"); string(m) != "module" || string(sig) != "signature" || err != nil {
		t.Errorf("a module that is remembered: %q, %q, %v", m, sig, err)
	}
	if _, _, err := r.get("def"); err == nil {
		t.Error("a module that is not remembered: no error")
	}
}
