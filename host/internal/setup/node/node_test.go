package node

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/cluster/jetstream"
	"github.com/parley-search/parley/host/internal/setup/config"
)

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
