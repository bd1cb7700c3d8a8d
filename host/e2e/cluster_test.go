package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/cluster/jetstream"
	"github.com/parley-search/parley/host/internal/cluster/natsd"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/node"
)

// A town is a cluster of houses in one process, on servers of NATS in it.
type town struct {
	t      *testing.T
	nats   *natsd.Servers
	flags  map[string]string
	houses []*house.House
	module []byte   // a provider that all carry
	guards [][]byte // that all carry, too
}

// openTown opens n houses over as many servers of NATS.
func openTown(t *testing.T, n, servers int) *town {
	t.Helper()
	s, err := natsd.Start(t.TempDir(), servers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w := &town{t: t, nats: s, module: house.Shipped(t, "openai"), flags: map[string]string{
		"cluster-name": "town", "cluster-nats": strings.Join(s.URLs(), ","), "cluster-nats-synced": "true", "cluster-lease": "1s",
		"master-key": "a master key of 26 bytes..", "no-analytics": "true",
	}}
	c, _, err := config.Load(config.Sources{Flags: w.flags})
	if err != nil {
		t.Fatal(err)
	}
	waittest.For(t, "the log is made", func() bool { // JetStream has to elect somebody first
		err = node.Create(context.Background(), c, servers, "test")
		return err == nil
	})
	for range n {
		w.houses = append(w.houses, w.open(t.TempDir()))
	}
	if n > 0 {
		w.leader()
	}
	return w
}

// open opens a house of the town with the data in dir.
func (w *town) open(dir string) *house.House {
	w.t.Helper()
	flags := maps.Clone(w.flags)
	flags["db-path"] = dir
	flags["dump-dir"], flags["snapshot-dir"] = filepath.Join(dir, "dumps"), filepath.Join(dir, "snapshots")
	h := house.Open(w.t, flags, append([][]byte{w.module}, w.guards...)...)
	h.Key = w.flags["master-key"]
	return h
}

// log opens the log of the town.
func (w *town) log() *jetstream.Log {
	w.t.Helper()
	key, err := cluster.NewKey(w.flags["master-key"], "town")
	if err != nil {
		w.t.Fatal(err)
	}
	log, err := jetstream.Open(jetstream.Options{URLs: w.nats.URLs(), Name: "town", Key: key})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(log.Close)
	return log
}

// seen is what a node says of the cluster.
type seen struct {
	Enabled bool
	Node    struct {
		ID, Role  string
		Seq, Term uint64
	}
	Nodes []struct{ Role string }
	Words uint64
	Stale bool
}

func (w *town) see(h *house.House) (s seen) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(h.Must("GET", "/cluster", "").Body), &s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// leader waits until one of the houses leads, and returns its place.
func (w *town) leader() (at int) {
	w.t.Helper()
	waittest.For(w.t, "a house leads", func() bool {
		for i, h := range w.houses {
			if h != nil && w.see(h).Node.Role == "leader" {
				at = i
				return true
			}
		}
		return false
	})
	return at
}

// level waits until all houses have what the leader has, words too.
func (w *town) level() {
	w.t.Helper()
	waittest.For(w.t, "all houses are level", func() bool {
		want := w.see(w.houses[w.leader()]).Node.Seq
		for _, h := range w.houses {
			if h == nil {
				continue
			}
			if s := w.see(h); s.Node.Seq != want || s.Words < want || s.Stale {
				return false
			}
		}
		return true
	})
}

// eventually sends a request until somebody takes it. It may be sent again only
// where the answer says that nothing was changed.
func (w *town) eventually(h *house.House, method, path, body string) (r house.Reply) {
	w.t.Helper()
	waittest.For(w.t, method+" "+path+" is taken", func() bool {
		r = h.Call(method, path, body)
		// No leader yet; a node that began just now has not reached the log, or heard of the others.
		return !strings.Contains(r.Body, "cluster_no_leader") && !strings.Contains(r.Body, "cluster_stale") && !strings.Contains(r.Body, "cluster_no_follower")
	})
	if r.Status/100 != 2 {
		w.t.Fatalf("%s %s: %d %s", method, path, r.Status, r.Body)
	}
	return r
}

// equal wants the same answers from all houses.
func (w *town) equal(method, path, body string, contains ...string) {
	w.t.Helper()
	first := ""
	for i, h := range w.houses {
		if h == nil {
			continue
		}
		got := withoutTime(h.Must(method, path, body).Body)
		if first == "" {
			first = got
		}
		if got != first {
			w.t.Errorf("%s %s at house %d:\n%s\nelsewhere:\n%s", method, path, i, got, first)
		}
	}
	for _, want := range contains {
		if !strings.Contains(first, want) {
			w.t.Errorf("%s %s %s = %s, want %s in it", method, path, body, first, want)
		}
	}
}

// searchAs searches with a key of its own.
func searchAs(h *house.House, key string) house.Reply {
	return send(h, "POST", "/indexes/a/search", "{}", http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + key}})
}

// withoutTime leaves out how long an answer took, and the id of its request.
func withoutTime(body string) string {
	var m map[string]any
	if json.Unmarshal([]byte(body), &m) != nil {
		return body
	}
	delete(m, "processingTimeMs")
	delete(m, "requestUid")
	b, _ := json.Marshal(m) // it came out of JSON
	return string(b)
}

// sharedRecords returns the records of a closed house that all nodes have, each as
// a line.
func sharedRecords(t *testing.T, dir string) string {
	t.Helper()
	db := house.OpenDatabase(t, dir)
	defer db.Close()
	var b strings.Builder
	err := db.View(func(tx *badger.Txn) error {
		it := tx.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if bytes.HasPrefix(it.Item().Key(), []byte("l/")) {
				continue
			}
			if err := it.Item().Value(func(v []byte) error { fmt.Fprintf(&b, "%q %q\n", it.Item().Key(), v); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCluster has three hosts in one process do as one, and five: what is written through any
// of them is read from all, also once the leader is gone, and in the end their
// records are equal to the byte.
//
//parley:option cluster-name
//parley:option cluster-nats
//parley:option cluster-nats-synced
//parley:option cluster-lease
func TestCluster(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			if n > 3 && !house.Long() {
				t.Skip("runs five hosts and five servers: LONG=1 runs it")
			}
			testCluster(t, n)
		})
	}
}

func testCluster(t *testing.T, nodes int) {
	w := openTown(t, nodes, nodes)
	// Through each house: documents, settings, a key, a workspace, a feature.
	last := len(w.houses) - 1
	for i, h := range w.houses {
		var docs []string
		for n := range 50 {
			docs = append(docs, fmt.Sprintf(`{"id":%d,"title":"word%d house%d","n":%d}`, 100*i+n, n, i, n))
		}
		r := w.eventually(h, "POST", "/indexes/a/documents", "["+strings.Join(docs, ",")+"]")
		h.Finish(r)
	}
	h := w.houses[last]
	h.Finish(w.eventually(h, "PATCH", "/indexes/a/settings", `{"filterableAttributes":["n","title"],"sortableAttributes":["n"]}`))
	w.eventually(w.houses[0], "PATCH", "/chats/demo/settings", `{"source":"openAi","apiKey":"sk-secret"}`)
	w.eventually(w.houses[1], "PATCH", "/experimental-features", `{"containsFilter":true}`)
	var key struct{ Key, UID string }
	if err := json.Unmarshal([]byte(w.eventually(w.houses[1], "POST", "/keys", `{"actions":["search"],"indexes":["*"],"expiresAt":null}`).Body), &key); err != nil {
		t.Fatal(err)
	}
	large := "[" + strings.TrimSuffix(strings.Repeat(`{"id":999,"title":"`+strings.Repeat("large ", 200)+`"},`, 300), ",") + "]"
	h.Finish(w.eventually(h, "POST", "/indexes/b/documents", large))
	h.Finish(w.eventually(h, "POST", "/swap-indexes", `[{"indexes":["a","b"]}]`))
	h.Finish(w.eventually(h, "POST", "/swap-indexes", `[{"indexes":["a","b"]}]`))
	w.level()
	check := func() {
		t.Helper()
		w.equal("POST", "/indexes/a/search", `{"q":"word7","showRankingScore":true}`, `"id":207`)
		w.equal("POST", "/indexes/a/search", `{"filter":"n > 10 AND title CONTAINS word4","sort":["n:desc"],"limit":100}`, `"n":44`)
		w.equal("POST", "/indexes/b/search", `{"q":"large","attributesToRetrieve":["id"]}`, `"id":999`)
		w.equal("GET", "/indexes/a/documents?limit=500", "", fmt.Sprintf(`"total":%d`, 50*nodes))
		w.equal("GET", "/indexes/a/settings", "")
		w.equal("GET", "/chats/demo/settings", "", `"source":"openAi"`)
		w.equal("GET", "/tasks", "", `"status":"succeeded"`)
		w.equal("GET", "/tasks/2", "", `"status":"succeeded"`)
		w.equal("GET", "/batches", "", `"status":{"succeeded"`)
		for _, h := range w.houses {
			if h != nil {
				if r := searchAs(h, key.Key); r.Status != http.StatusOK {
					t.Errorf("search by the key that another house made: %d %s", r.Status, r.Body)
				}
			}
		}
	}
	check()

	// The leader goes; the others go on.
	gone := w.leader()
	dir := w.houses[gone].Dir
	w.houses[gone].Close()
	w.houses[gone] = nil
	check()
	h = w.houses[(gone+1)%nodes]
	h.Finish(w.eventually(h, "POST", "/indexes/a/documents", `[{"id":5000,"title":"written later"}]`))
	w.eventually(h, "DELETE", "/keys/"+key.UID, "")
	w.level()
	w.equal("POST", "/indexes/a/search", `{"q":"later"}`, `"id":5000`)

	// It comes back, and learns what it missed.
	w.houses[gone] = w.open(dir)
	w.level()
	w.equal("POST", "/indexes/a/search", `{"q":"later"}`, `"id":5000`)
	for i, h := range w.houses {
		if r := searchAs(h, key.Key); r.Status != http.StatusForbidden {
			t.Errorf("search at house %d by a key that was deleted: %d %s", i, r.Status, r.Body)
		}
	}
	w.level()
	var records []string
	for _, h := range w.houses {
		h.Close()
	}
	for _, h := range w.houses {
		records = append(records, sharedRecords(t, h.Dir))
	}
	for i := range records {
		if records[i] != records[0] || len(records[i]) < 10_000 {
			t.Errorf("house %d has %d bytes of records, house 0 %d, and they differ or are few", i, len(records[i]), len(records[0]))
		}
	}
}

// TestClusterCutOff: a node that loses the log goes on answering for a while, and
// takes no writes; then it refuses, unless it is told to go on.
//
//parley:option cluster-max-lag
//parley:option cluster-serve-stale
//parley:option cluster-advertise
func TestClusterCutOff(t *testing.T) {
	t.Parallel()
	w := openTown(t, 1, 1)
	strict := w.houses[0]
	w.flags["cluster-max-lag"] = "1s"
	brief := w.open(t.TempDir())
	w.flags["cluster-serve-stale"], w.flags["cluster-advertise"] = "true", "http://elsewhere.example:7700"
	w.houses = append(w.houses, brief, w.open(t.TempDir()))
	lasting := w.houses[2]
	strict.Finish(w.eventually(brief, "POST", "/indexes/a/documents", `[{"id":1,"title":"x"}]`))
	w.level()
	if got := lasting.Must("GET", "/cluster", "").Body; !strings.Contains(got, `"url":"http://elsewhere.example:7700"`) {
		t.Errorf("GET /cluster = %s, want the advertised URL", got)
	}
	w.nats.Close()
	waittest.For(t, "the node refuses", func() bool {
		r := brief.Call("GET", "/tasks", "")
		return r.Status == http.StatusServiceUnavailable && strings.Contains(r.Body, "cluster_stale")
	})
	for _, h := range []*house.House{strict, lasting} {
		h.Must("POST", "/indexes/a/search", `{"q":"x"}`)
		h.Must("GET", "/ready", "")
	}
	for _, h := range w.houses {
		h.Must("GET", "/health", "")
		waittest.For(t, "writes are refused", func() bool {
			r := h.Call("POST", "/indexes", `{"uid":"b"}`)
			return r.Status == http.StatusServiceUnavailable && (strings.Contains(r.Body, "cluster_no_leader") || strings.Contains(r.Body, "cluster_stale"))
		})
	}
}

// TestClusterSilentServer: a node whose server of NATS says nothing any more, as one
// whose machine is gone, goes on with another server.
func TestClusterSilentServer(t *testing.T) {
	t.Parallel()
	w := openTown(t, 1, 3)
	var gates []*gate
	var urls []string
	for _, u := range w.nats.URLs() {
		g := newGate(t, strings.TrimPrefix(u, "nats://"))
		gates, urls = append(gates, g), append(urls, "nats://"+g.addr)
	}
	w.flags["cluster-nats"] = strings.Join(urls, ",")
	w.houses = append(w.houses, w.open(t.TempDir()))
	w.level()
	for i, g := range gates { // the node has chosen one of them
		g.set(waits)
		h := w.houses[0]
		h.Finish(w.eventually(h, "POST", "/indexes/a/documents", fmt.Sprintf(`[{"id":%d,"title":"number%d"}]`, i, i)))
		seq := w.see(h).Node.Seq
		waittest.For(t, "the node reads on", func() bool { return w.see(w.houses[1]).Node.Seq >= seq })
		g.set(passes)
	}
}

// TestClusterOwnData: data of a host alone and data of a node of a cluster are not
// taken for each other.
func TestClusterOwnData(t *testing.T) {
	t.Parallel()
	w := openTown(t, 1, 1)
	h := w.houses[0]
	h.Finish(w.eventually(h, "POST", "/indexes/a/documents", `[{"id":1,"title":"x"}]`))
	h.Close()
	alone := house.Open(t, map[string]string{"master-key": w.flags["master-key"]})
	alone.Close()
	for _, tt := range []struct {
		dir, says string
		flags     map[string]string
	}{
		{h.Dir, "belongs to a node of a cluster", map[string]string{"master-key": w.flags["master-key"]}},
		{alone.Dir, "begin with an empty --db-path", w.flags},
		{h.Dir, "not that of the cluster", map[string]string{"master-key": "another master key.."}},
	} {
		flags := map[string]string{"http-addr": "127.0.0.1:0"}
		if tt.flags["cluster-name"] == "" && tt.says != "belongs to a node of a cluster" {
			maps.Copy(flags, w.flags)
		}
		maps.Copy(flags, tt.flags)
		flags["db-path"] = tt.dir
		c, _, err := config.Load(config.Sources{Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		c.PluginCacheDir = house.CompiledModules(t)
		opened, err := host.Open(t.Context(), c, host.Options{})
		if err == nil {
			opened.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("open %s: %v, want an error that says %q", tt.dir, err, tt.says)
		}
	}
}

// config is that of a node of the town with the data in dir.
func (w *town) config(dir string) config.Config {
	w.t.Helper()
	flags := maps.Clone(w.flags)
	flags["db-path"], flags["http-addr"] = dir, "127.0.0.1:0"
	flags["dump-dir"], flags["snapshot-dir"] = filepath.Join(dir, "dumps"), filepath.Join(dir, "snapshots")
	c, _, err := config.Load(config.Sources{Flags: flags})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// write has the town take some documents, from number on.
func (w *town) write(number int) {
	w.t.Helper()
	for _, h := range w.houses {
		if h != nil {
			h.Finish(w.eventually(h, "POST", "/indexes/a/documents", fmt.Sprintf(`[{"id":%d,"title":"number%d"}]`, number, number)))
			number++
		}
	}
}

// TestClusterSnapshots: nodes keep snapshots and purge the log; a new node, and one
// that was away for longer than the log reaches back, begin with a snapshot; and a
// stream that was lost is begun anew with what one node has.
//
//parley:option cluster-snapshot-every
//parley:option cluster-log-size
func TestClusterSnapshots(t *testing.T) {
	t.Parallel()
	w := openTown(t, 0, 1)
	w.flags["cluster-snapshot-every"], w.flags["cluster-log-size"] = "200ms", "1 B"
	for range 2 {
		w.houses = append(w.houses, w.open(t.TempDir()))
	}
	log := w.log()
	purged := func(before uint64) {
		t.Helper()
		number := 1000 + int(before)
		waittest.For(t, "the log is purged", func() bool {
			number += 10
			w.write(number)
			s, err := log.State(t.Context())
			return err == nil && s.First > before
		})
		// A node that opens while newer snapshots are made may find the log purged before it is heard of.
		waittest.For(t, "the last write is in a snapshot", func() bool {
			s, err := log.State(t.Context())
			list, listErr := log.Snapshots(t.Context(), 0)
			return err == nil && listErr == nil && len(list) > 0 && list[0].Seq == s.Last
		})
	}
	large := "[" + strings.TrimSuffix(strings.Repeat(`{"id":999,"title":"`+strings.Repeat("large ", 200)+`"},`, 300), ",") + "]"
	w.houses[0].Finish(w.eventually(w.houses[0], "POST", "/indexes/b/documents", large))
	w.write(1)
	purged(2)
	w.houses = append(w.houses, w.open(t.TempDir()))
	w.level()
	check := func() {
		t.Helper()
		w.equal("POST", "/indexes/a/search", `{"q":"number1"}`, `"id":1`)
		w.equal("POST", "/indexes/b/search", `{"q":"large","attributesToRetrieve":["id"]}`, `"id":999`)
		w.equal("GET", "/indexes/a/documents?limit=200", "", `"id":1`)
		w.equal("GET", "/tasks", "", `"status":"succeeded"`)
	}
	check()

	// One is away until the log has nothing of what it lacks.
	away := (w.leader() + 1) % 3
	dir, seq := w.houses[away].Dir, w.see(w.houses[away]).Node.Seq
	id := w.see(w.houses[away]).Node.ID
	w.houses[away].Close()
	w.houses[away] = nil
	purged(seq + 1)
	w.houses[away] = w.open(dir)
	w.level()
	check()
	if got := w.see(w.houses[away]).Node.ID; got != id {
		t.Errorf("the node that came back is %s, it was %s", got, id)
	}
	if _, err := node.Join(t.Context(), w.config(t.TempDir()), false); err != nil {
		t.Errorf("join by hand: %v", err)
	}

	// The stream is gone. One node's data begins a new one; the others take it over.
	var dirs []string
	for _, h := range w.houses {
		dirs = append(dirs, h.Dir)
		h.Close()
	}
	w.houses = nil
	if _, err := node.Reset(t.Context(), w.config(dirs[0])); err == nil || !strings.Contains(err.Error(), "begins in an empty one") {
		t.Errorf("reset over a stream that is there: %v, want an error that says what to do first", err)
	}
	w.dropStream("PARLEY_town_LOG")
	if err := log.Make(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Reset(t.Context(), w.config(dirs[0])); err != nil {
		t.Fatal(err)
	}
	w.houses = append(w.houses, w.open(dirs[0]))
	w.leader()
	waittest.For(t, "the other log is refused", func() bool {
		_, err := node.Join(t.Context(), w.config(dirs[1]), false)
		return err != nil && strings.Contains(err.Error(), "what is here is lost")
	})
	waittest.For(t, "another node takes over the snapshot", func() bool {
		_, err := node.Join(t.Context(), w.config(dirs[1]), true)
		return err == nil
	})
	w.houses = append(w.houses, w.open(dirs[1]), w.open(t.TempDir()))
	w.level()
	w.write(7000)
	w.level()
	check()
	w.equal("POST", "/indexes/a/search", `{"q":"number7001"}`, `"id":7001`)
	var records []string
	for _, h := range w.houses {
		h.Close()
		records = append(records, sharedRecords(t, h.Dir))
	}
	for i := range records {
		if records[i] != records[0] || len(records[i]) < 1000 {
			t.Errorf("house %d has %d bytes of records, house 0 %d, and they differ or are few", i, len(records[i]), len(records[0]))
		}
	}
}

// TestClusterStreamLost: nodes whose stream was deleted say so, and halt once it is
// made again, though it is empty and nobody else writes to it. They answer reads.
func TestClusterStreamLost(t *testing.T) {
	t.Parallel()
	w := openTown(t, 2, 1)
	w.write(1)
	w.level()
	w.dropStream("PARLEY_town_LOG")
	all := func(what string, in func(h *house.House) bool) {
		t.Helper()
		for i, h := range w.houses {
			waittest.For(t, fmt.Sprintf("house %d %s", i, what), func() bool { return in(h) })
		}
	}
	says := func(text string) func(*house.House) bool {
		return func(h *house.House) bool { return strings.Contains(h.Must("GET", "/cluster", "").Body, text) }
	}
	all("says that there is no stream", says(`"trouble":"read the cluster's log from message `))
	all("says which", says("the cluster has no stream PARLEY_town_LOG"))
	if err := node.Create(t.Context(), w.config(t.TempDir()), 1, "test"); err != nil {
		t.Fatal(err)
	}
	all("halts, and says why", says(`the stream was cut, or made again"`))
	for _, h := range w.houses {
		h.Must("GET", "/health", "") // a new start heals nothing
		h.Must("POST", "/indexes/a/search", `{"q":"number1"}`)
		if r := h.Call("GET", "/ready", ""); !strings.Contains(r.Body, "cluster_halted") {
			t.Errorf("GET /ready of a halted node: %d %s", r.Status, r.Body)
		}
		if r := h.Call("POST", "/indexes", `{"uid":"b"}`); !strings.Contains(r.Body, "cluster_no_leader") {
			t.Errorf("a write to a halted node: %d %s", r.Status, r.Body)
		}
	}
	// They stay so where somebody begins it anew.
	other := w.open(t.TempDir())
	waittest.For(t, "a node without data leads the other log", func() bool { return w.see(other).Node.Role == "leader" })
	all("is halted", says(`"role":"halted"`))
}

// TestClusterLeads: a snapshot that somebody asks for is kept with the log, and a
// leader that hands over is followed by another node, whichever node is asked.
func TestClusterLeads(t *testing.T) {
	t.Parallel()
	w := openTown(t, 1, 1)
	if r := w.houses[0].Call("POST", "/cluster/resign", ""); r.Status != http.StatusConflict || !strings.Contains(r.Body, "cluster_no_follower") {
		t.Errorf("a node alone hands over: %d %s", r.Status, r.Body)
	}
	w.houses = append(w.houses, w.open(t.TempDir()))
	w.write(1)
	w.level()
	log := w.log()
	id, err := log.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range w.houses {
		w.write(10 * (i + 1))
		w.level()
		before := w.leader()
		var kept struct {
			Message, Kept uint64
			Done          bool
		}
		if err := json.Unmarshal([]byte(w.eventually(h, "POST", "/cluster/snapshot", "").Body), &kept); err != nil {
			t.Fatal(err)
		}
		list, err := log.Snapshots(t.Context(), id)
		if seq := w.see(w.houses[before]).Node.Seq; err != nil || len(list) == 0 || !kept.Done || list[0].Seq != kept.Kept || kept.Kept != seq {
			t.Errorf("a snapshot by house %d: %+v; kept are %+v, %v; the leader has message %d", i, kept, list, err, seq)
		}
		var handed struct{ From, Leader string }
		if err := json.Unmarshal([]byte(w.eventually(h, "POST", "/cluster/resign", "").Body), &handed); err != nil {
			t.Fatal(err)
		}
		if after := w.leader(); handed.From == handed.Leader || handed.Leader != w.see(w.houses[after]).Node.ID {
			t.Errorf("now house %d leads; told was %+v", after, handed)
		}
		if handed.From != w.see(w.houses[before]).Node.ID {
			t.Logf("house %d had lost the lead by itself: a busy machine stands still for longer than a lease", before)
		}
	}
	w.write(100)
	w.level()
}

// dropStream deletes a stream, as an operator may by mistake.
func (w *town) dropStream(name string) {
	w.t.Helper()
	conn, err := nats.Connect(w.nats.URLs()[0])
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	if m, err := conn.Request("$JS.API.STREAM.DELETE."+name, nil, 10*time.Second); err != nil || !bytes.Contains(m.Data, []byte(`"success":true`)) {
		w.t.Fatalf("delete stream %s: %v", name, err)
	}
}

// TestClusterDashboard holds the Grafana file of a cluster to what a node shows.
func TestClusterDashboard(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(house.Repository(t), "examples", "grafana", "cluster.json"))
	if err != nil {
		t.Fatal(err)
	}
	w := openTown(t, 0, 1)
	w.flags["experimental-enable-metrics"] = "true"
	w.houses = append(w.houses, w.open(t.TempDir()))
	w.leader()
	name := regexp.MustCompile(`\bparley_cluster_[a-z_]+`)
	shown, drawn := map[string]bool{}, map[string]bool{}
	for _, m := range name.FindAllString(w.houses[0].Must("GET", "/metrics", "").Body, -1) {
		shown[m] = true
	}
	for _, m := range name.FindAllString(string(b), -1) {
		drawn[m] = true
	}
	if len(shown) < 10 || !maps.Equal(shown, drawn) {
		t.Errorf("the file draws %v, a node shows %v", slices.Sorted(maps.Keys(drawn)), slices.Sorted(maps.Keys(shown)))
	}
}

// TestClusterResignsFirst: a leader that is told to end while an answer streams hands over
// before it waits for that answer, which is written to its end.
func TestClusterResignsFirst(t *testing.T) {
	t.Parallel()
	w := openTown(t, 2, 1)
	wire, goOn := house.NewWire(t), make(chan struct{})
	wire.On("slow", func(x *house.Exchange) {
		x.Say(house.Stream + house.Delta("first "))
		<-goOn
		x.Say(house.Delta("last") + house.Finish)
	})
	w.eventually(w.houses[0], "PATCH", "/chats/talk/settings", fmt.Sprintf(`{"source":"openAi","baseUrl":%q,"apiKey":"sk-x"}`, wire.URL))
	w.level()
	leads := w.leader()
	h, other := w.houses[leads], w.houses[1-leads]
	req, err := http.NewRequestWithContext(t.Context(), "POST", h.URL+"/chats/talk/chat/completions", strings.NewReader(`{"model":"slow","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.Key)
	resp, err := h.Client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begun := make([]byte, 1)
	if _, err := io.ReadFull(resp.Body, begun); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the answer begins with %d, %v", resp.StatusCode, err)
	}
	closed := make(chan struct{})
	go func() { defer close(closed); h.Close() }()
	w.houses[leads] = nil
	waittest.For(t, "the other house leads", func() bool { return w.see(other).Node.Role == "leader" })
	w.eventually(other, "POST", "/indexes/a/documents", `[{"id":1}]`)
	select {
	case <-closed:
		t.Error("the house has ended with an answer under way")
	default:
	}
	close(goOn)
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(rest), "last") || !strings.Contains(string(rest), "[DONE]") {
		t.Errorf("the answer ends with %.200q, %v; want its last word", rest, err)
	}
	<-closed
}

// TestClusterStranger has somebody who reaches NATS, without the master key, write to the
// cluster's log and speak for its nodes: nobody halts, nobody else leads, no data changes, and
// no writes go elsewhere. A node of another cluster on the same stream is never ready.
func TestClusterStranger(t *testing.T) {
	t.Parallel()
	w := openTown(t, 2, 1)
	w.eventually(w.houses[0], "PATCH", "/experimental-features", `{"metrics":true}`)
	w.write(1)
	w.level()
	nc, err := nats.Connect(w.nats.URLs()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	log := w.log()
	forged := func(format byte, key cluster.Key) []byte {
		state, err := log.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		id, err := log.ID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		list, err := log.Read(t.Context(), state.Last)
		if err != nil || len(list) == 0 {
			t.Fatal(err)
		}
		last, err := cluster.DecodeRecord(list[0].Record, key)
		if err != nil {
			last.Term = 100
		}
		claim := cluster.Record{Format: format, Kind: cluster.KindClaim, Log: id, Term: last.Term + 1, Prev: state.Last, Chain: last.Chain, Data: fmt.Appendf(nil, `{"id":"stranger","url":%q,"format":%d}`, elsewhere.URL, format)}
		return claim.Encode(key)
	}
	other, err := cluster.NewKey("another master key of 30 bytes", "town")
	if err != nil {
		t.Fatal(err)
	}
	beat, err := json.Marshal(cluster.Beat{ID: "stranger", URL: elsewhere.URL, Leading: true, Term: 1 << 40, Seq: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	for i, send := range []func() error{
		func() error { return nc.Publish("parley.town.log", []byte("hello")) },
		func() error { return nc.Publish("parley.town.log", forged(1, nil)) },
		func() error { return nc.Publish("parley.town.log", forged(2, other)) },
		func() error { return nc.Publish("parley.town.log", forged(99, other)) },
		func() error { return nc.Publish("parley.town.beat", beat) },
	} {
		if err := errors.Join(send(), nc.Flush()); err != nil {
			t.Fatal(err)
		}
		w.write(10 + i)
		w.level()
	}
	for i, h := range w.houses {
		st := h.Must("GET", "/cluster", "").Body
		if strings.Contains(st, "stranger") || strings.Contains(st, `"halted":`) {
			t.Errorf("house %d says %s", i, st)
		}
		if m := h.Must("GET", "/metrics", "").Body; !regexp.MustCompile(`(?m)^parley_cluster_unverified_total [1-9]`).MatchString(m) {
			t.Errorf("house %d has counted no message of a stranger", i)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests went to the stranger", n)
	}
	flags := maps.Clone(w.flags)
	flags["master-key"], flags["db-path"] = "the key of some other cluster", t.TempDir()
	h := house.Open(t, flags, w.module)
	h.Key = flags["master-key"]
	waittest.For(t, "it says that the log is not its own", func() bool {
		return strings.Contains(h.Must("GET", "/cluster", "").Body, "the stream has no log of this cluster")
	})
	if r := h.Call("GET", "/ready", ""); r.Status != http.StatusServiceUnavailable {
		t.Errorf("a node of another cluster: %d %s, want it not ready", r.Status, r.Body)
	}
	if r := h.Call("POST", "/indexes/a/documents", `[{"id":1}]`); r.Status != http.StatusServiceUnavailable {
		t.Errorf("a write to it: %d %s", r.Status, r.Body)
	}
	w.write(100)
	w.level()
}

// TestClusterReplay has a stranger who saw all that the nodes told each other, claims of an
// earlier leader too, send it again: nothing is changed, nobody halts, and the leader stays one
// that the nodes chose.
func TestClusterReplay(t *testing.T) {
	t.Parallel()
	w := openTown(t, 2, 1)
	w.eventually(w.houses[0], "PATCH", "/experimental-features", `{"metrics":true}`)
	nc, err := nats.Connect(w.nats.URLs()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	seen, err := nc.SubscribeSync("parley.town.>")
	if err != nil {
		t.Fatal(err)
	}
	w.write(1)
	w.eventually(w.houses[0], "POST", "/cluster/resign", "")
	w.write(3)
	w.houses[0].Finish(w.eventually(w.houses[0], "DELETE", "/indexes/a/documents/2", ""))
	w.level()
	said, _, err := seen.Pending()
	if err != nil {
		t.Fatal(err)
	}
	list := `{"limit":1000}`
	before := w.houses[0].Must("POST", "/indexes/a/documents/fetch", list).Body
	kinds := map[string]int{}
	for range said {
		m, err := seen.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		again := nats.NewMsg(m.Subject)
		again.Data = m.Data
		if m.Subject == "parley.town.beat" { // of the log the stream wants no header
			again.Header = m.Header
		}
		if err := nc.PublishMsg(again); err != nil {
			t.Fatal(err)
		}
		kinds[m.Subject]++
	}
	if err := nc.Flush(); err != nil || kinds["parley.town.log"] < 5 || kinds["parley.town.beat"] < 5 {
		t.Fatalf("sent again: %v, %v; want some of each", kinds, err)
	}
	w.write(5)
	for _, id := range []string{"5", "6"} {
		w.houses[0].Finish(w.eventually(w.houses[0], "DELETE", "/indexes/a/documents/"+id, ""))
	}
	w.level()
	w.equal("POST", "/indexes/a/documents/fetch", list)
	for i, h := range w.houses {
		if got := h.Must("POST", "/indexes/a/documents/fetch", list).Body; got != before {
			t.Errorf("house %d has %s, want %s", i, got, before)
		}
		if st := h.Must("GET", "/cluster", "").Body; strings.Contains(st, `"halted":`) {
			t.Errorf("house %d says %s", i, st)
		}
		if m := h.Must("GET", "/metrics", "").Body; !regexp.MustCompile(`(?m)^parley_cluster_unverified_total [1-9]`).MatchString(m) {
			t.Errorf("house %d has counted nothing that was sent again", i)
		}
	}
}

// TestClusterRestore makes a new cluster of what an old one keeps, by each kind of backup: all
// that the old one had is there, nodes without data join it, and it takes writes.
func TestClusterRestore(t *testing.T) {
	t.Parallel()
	w := openTown(t, 1, 1)
	h := w.houses[0]
	w.write(1)
	w.eventually(h, "PATCH", "/chats/demo/settings", `{"source":"openAi","apiKey":"sk-secret"}`)
	w.eventually(h, "POST", "/keys", `{"uid":"6062abda-a5aa-4414-ac91-ecd7944c0f8d","actions":["search"],"indexes":["*"],"expiresAt":null}`)
	h.Finish(w.eventually(h, "POST", "/dumps", ""))
	h.Finish(w.eventually(h, "POST", "/snapshots", ""))
	w.eventually(h, "POST", "/cluster/snapshot", "")
	w.level()
	asked := []string{"/indexes/a/documents?limit=100", "/chats/demo/settings", "/indexes/a/settings"}
	var had []string
	for _, path := range asked {
		had = append(had, h.Must("GET", path, "").Body)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	if _, err := node.Backup(t.Context(), w.config(h.Dir), kept); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Backup(t.Context(), w.config(h.Dir), kept); !errors.Is(err, os.ErrExist) {
		t.Errorf("written over a file: %v", err)
	}
	files := map[string]string{"a backup": kept}
	c := w.config(h.Dir)
	for kind, dir := range map[string]string{"a dump": c.DumpDir, "a snapshot": c.SnapshotDir} {
		list, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(list) == 0 {
			t.Fatalf("%s in %s: %q, %v", kind, dir, list, err)
		}
		files[kind] = list[len(list)-1] // the names are dates
	}
	for kind, file := range files {
		t.Run(kind, func(t *testing.T) {
			n := openTown(t, 0, 1)
			dir := filepath.Join(t.TempDir(), "first")
			if _, err := node.Restore(t.Context(), n.config(dir), file, zerolog.Nop()); err != nil {
				t.Fatal(err)
			}
			if _, err := node.Restore(t.Context(), n.config(dir), file, zerolog.Nop()); err == nil {
				t.Error("restored twice into one directory")
			}
			n.houses = append(n.houses, n.open(dir))
			n.leader()
			n.eventually(n.houses[0], "POST", "/cluster/snapshot", "")
			n.houses = append(n.houses, n.open(t.TempDir()))
			n.write(2)
			n.level()
			for i, path := range asked[1:] {
				for at, h := range n.houses {
					if got := h.Must("GET", path, "").Body; got != had[i+1] {
						t.Errorf("node %d answers %s with %.300s, want %.300s", at, path, got, had[i+1])
					}
				}
			}
			for at, h := range n.houses {
				if got := h.Must("POST", "/indexes/a/search", `{"q":"number1"}`).Body; !strings.Contains(got, `"id":1,`) && !strings.Contains(got, `"id":1}`) {
					t.Errorf("node %d finds %.300s, want the document of before", at, got)
				}
				h.Must("GET", "/keys/6062abda-a5aa-4414-ac91-ecd7944c0f8d", "")
			}
			if _, err := node.Restore(t.Context(), n.config(filepath.Join(t.TempDir(), "other")), file, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), "begins in an empty one") {
				t.Errorf("restored into a cluster that has a log: %v", err)
			}
		})
	}
	waittest.For(t, "the cluster knows of its snapshot and of its backup", func() bool {
		var st struct {
			NATS struct {
				Quorum               bool
				SnapshotAt, BackupAt *time.Time
			}
		}
		err := json.Unmarshal([]byte(h.Must("GET", "/cluster", "").Body), &st)
		return err == nil && st.NATS.Quorum && st.NATS.SnapshotAt != nil && st.NATS.BackupAt != nil
	})
}

// TestClusterPurged: a stream that somebody purged of all messages goes on with the nodes that
// have the last one. A node that is behind says so, and takes over a snapshot.
func TestClusterPurged(t *testing.T) {
	t.Parallel()
	w := openTown(t, 2, 1)
	w.write(1)
	w.level()
	behind := (w.leader() + 1) % 2
	dir := w.houses[behind].Dir
	w.houses[behind].Close()
	w.houses[behind] = nil
	w.write(2)
	w.eventually(w.houses[1-behind], "POST", "/cluster/snapshot", "")
	w.level()
	log := w.log()
	state, err := log.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Purge(t.Context(), state.Last+1); err != nil {
		t.Fatal(err)
	}
	if state, err = log.State(t.Context()); err != nil || state.First != state.Last+1 {
		t.Fatalf("the stream is not empty: %+v, %v", state, err)
	}
	if _, err := node.Join(t.Context(), w.config(dir), true); err != nil {
		t.Errorf("join --replace: %v", err)
	}
	w.houses[behind] = w.open(dir)
	w.write(3)
	w.level()
	leader := w.leader()
	dir = w.houses[leader].Dir
	w.houses[leader].Close() // its place is taken, though the log may have few messages
	w.houses[leader] = nil
	w.write(4)
	w.houses[leader] = w.open(dir)
	w.level()
}
