//go:build unix

package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/freeport"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// A storm is a cluster of processes with gates between them, and what clients were
// told by it.
type storm struct {
	t       *testing.T
	rng     *rand.Rand
	bin     string // where programs are
	program string // parley
	direct  bool   // without gates
	mixed   bool   // some nodes are of an older build
	nats    []*process
	nodes   []*process
	dirs    []string // of nodes
	disk    int      // the node whose directory is a small file system of its own; -1: none
	urls    []string // of nodes, as clients have them
	key     string
	http    http.Client

	toNATS [][]*gate // from a node to a server
	toNode []*gate   // from other nodes
	routes [][]*gate // from a server to another; nil to itself
	ports  []string  // of servers, for clients

	// harmed counts, for each node, how often it was hit and how often it was whole
	// again: it is hit where that is odd.
	harmed   []atomic.Int64
	signaled []atomic.Int64 // what harmed is of a node from when a signal ended it last
	seen     sights

	strays  atomic.Int64  // messages of nobody that are in the log
	stop    chan struct{} // closed when clients are to end
	quiet   sync.RWMutex  // held while nobody is to write, and for reading while somebody does
	clients sync.WaitGroup

	mu   sync.Mutex
	told map[string]string // acked, refused, gone or unknown, by "kind id"
	acks []ack             // in the order of at
}

// An ack is a write that was acknowledged.
type ack struct{ began, at time.Time }

// stormNodes is how many nodes and servers of NATS there are where nothing else is wished.
const stormNodes = 3

// stormTimeout is how long a client waits for an answer: longer than a node does for
// the log's.
const stormTimeout = 15 * time.Second

// diskSize is that of the file system of its own, and fillTo what is left when it is
// full: less than a host leaves free.
const (
	stormCluster = "storm" // its name
	diskSize     = 512 << 20
	fillTo       = 16 << 20
)

// freeAddrs returns addresses that nobody listens on now, nor while what listens there
// starts again.
func freeAddrs(t *testing.T, n int) []string {
	t.Helper()
	addrs, err := freeport.FindAddrs(n)
	if err != nil {
		t.Fatal(err)
	}
	return addrs
}

// build builds a program, and returns its file.
func build(t *testing.T, dir, name, pkg string, flags ...string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if out, err := exec.Command("go", append(append([]string{"build", "-o", file}, flags...), pkg)...).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return file
}

// stormWishes are what differs between storms.
type stormWishes struct {
	seed   uint64
	nodes  int      // and as many servers of NATS; 0: stormNodes
	before string   // the program that the nodes begin with, of an older version; "": that of this checkout
	direct bool     // without gates, which cost time, and without a disk to fill
	env    []string // of the nodes
}

// openStorm starts the servers and nodes, and waits until all are ready.
func openStorm(t *testing.T, w stormWishes) *storm {
	t.Helper()
	w.nodes = cmp.Or(w.nodes, stormNodes)
	s := &storm{
		t: t, direct: w.direct, mixed: w.before != "", rng: rand.New(rand.NewPCG(w.seed, 0)), bin: t.TempDir(), key: "a master key of 26 bytes..", told: map[string]string{},
		disk: -1, harmed: make([]atomic.Int64, w.nodes), signaled: make([]atomic.Int64, w.nodes), stop: make(chan struct{}),
		http: http.Client{Timeout: stormTimeout, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	s.program = build(t, s.bin, "parley", "../../cmd/parley")
	s.openServers(build(t, s.bin, "nats-server", "github.com/nats-io/nats-server/v2"), w.nodes)
	var clients []string
	for i := range s.nats {
		clients = append(clients, "nats://"+s.ports[i])
	}
	listen := freeAddrs(t, w.nodes)
	for i := range w.nodes {
		var gates []*gate
		var urls []string
		for _, to := range s.ports {
			g := s.gateTo(to)
			gates, urls = append(gates, g), append(urls, "nats://"+g.addr)
		}
		s.toNATS, s.toNode = append(s.toNATS, gates), append(s.toNode, s.gateTo(listen[i]))
		s.urls, s.dirs = append(s.urls, "http://"+listen[i]), append(s.dirs, s.dataDir())
		logs := filepath.Join(s.bin, fmt.Sprintf("node-%d.log", i))
		all := append(os.Environ(), "PARLEY_NO_ANALYTICS=true", "PARLEY_MASTER_KEY="+s.key, "PARLEY_HTTP_ADDR="+listen[i], "PARLEY_DB_PATH="+s.dirs[i],
			"PARLEY_CLUSTER_NAME="+stormCluster, "PARLEY_CLUSTER_NATS="+strings.Join(urls, ","), "PARLEY_CLUSTER_NATS_SYNCED=true",
			"PARLEY_CLUSTER_ADVERTISE=http://"+s.toNode[i].addr, "PARLEY_CLUSTER_SNAPSHOT_EVERY=20s",
			"PARLEY_PLUGIN_API=true", "PARLEY_PLUGIN_LOCK=on", "PARLEY_PLUGIN_DIR="+filepath.Join(s.dirs[i], "plugins"),
			"PARLEY_ALLOW_PRIVATE_NETWORKS=127.0.0.1/32", "PARLEY_LOG_LEVEL=warn")
		s.nodes = append(s.nodes, &process{t: t, name: fmt.Sprintf("node %d", i), program: cmp.Or(w.before, s.program), args: []string{"serve"}, env: append(all, w.env...), log: logs})
	}
	t.Cleanup(s.close)
	waittest.For(t, "the log is made", func() bool { // in the format of the program that the nodes begin with
		create := exec.Command(s.nodes[0].program, "cluster", "create", "--replicas", strconv.Itoa(len(s.nats)), "--cluster-name", stormCluster, "--cluster-nats", strings.Join(clients, ","))
		create.Env = append(os.Environ(), "PARLEY_MASTER_KEY="+s.key)
		return create.Run() == nil
	})
	for _, p := range s.nodes {
		p.start()
	}
	for i := range s.nodes {
		s.ready(i)
	}
	return s
}

// gateTo returns a gate to an address; one without gates has what goes there itself.
func (s *storm) gateTo(addr string) *gate {
	if s.direct {
		return &gate{to: addr, addr: addr}
	}
	return newGate(s.t, addr)
}

// openServers starts n of NATS. They reach each other by gates, and tell nobody
// of a way around them.
func (s *storm) openServers(program string, n int) {
	addrs := freeAddrs(s.t, 2*n)
	s.ports = addrs[:n]
	for i := range n {
		var gates []*gate
		var routes []string
		for j := range n {
			if i == j {
				gates = append(gates, nil)
				continue
			}
			g := s.gateTo(addrs[n+j])
			gates, routes = append(gates, g), append(routes, strconv.Quote("nats://"+g.addr))
		}
		s.routes = append(s.routes, gates)
		dir := s.t.TempDir()
		conf := fmt.Sprintf("server_name: nats-%d\nlisten: %q\njetstream { store_dir: %q, max_file_store: 4GB, sync_interval: always }\n"+
			"cluster { name: storm, listen: %q, advertise: \"127.0.0.1:1\", no_advertise: true, routes: [%s] }\n",
			i, addrs[i], dir, addrs[n+i], strings.Join(routes, ", "))
		if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600); err != nil {
			s.t.Fatal(err)
		}
		p := &process{t: s.t, name: fmt.Sprintf("NATS %d", i), program: program, args: []string{"--config", filepath.Join(dir, "conf")}, log: filepath.Join(dir, "log")}
		s.nats = append(s.nats, p)
		p.start()
	}
}

// dataDir makes the directory of a node: that of one is a file system of its own,
// where this process may make one.
func (s *storm) dataDir() string {
	dir := s.t.TempDir()
	if s.disk >= 0 || s.direct || os.Geteuid() != 0 {
		return dir
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", diskSize), "tmpfs", dir).CombinedOutput(); err != nil {
		s.t.Logf("no disk is filled: a file system of its own cannot be mounted: %s", out)
		return dir
	}
	s.disk = len(s.dirs)
	s.t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			s.t.Errorf("umount %s: %v %s", dir, err, out)
		}
	})
	return dir
}

// calm ends the clients.
func (s *storm) calm() {
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	s.clients.Wait()
}

func (s *storm) close() {
	for _, p := range slices.Concat(s.nodes, s.nats) {
		p.signal(syscall.SIGCONT)
		p.signal(syscall.SIGKILL)
	}
	s.calm()
	for _, p := range slices.Concat(s.nodes, s.nats) {
		if s.t.Failed() {
			s.t.Logf("%s said last:\n%s", p.name, p.saidLast())
		}
	}
}

// call asks a node once. status 0: there was no answer.
func (s *storm) call(node int, method, path, body string) (status int, answer []byte, err error) {
	return s.send(node, method, path, "application/json", strings.NewReader(body))
}

// errBroken: an answer began, and did not come to its end.
var errBroken = errors.New("the answer broke off")

func (s *storm) send(node int, method, path, form string, body io.Reader) (status int, answer []byte, err error) {
	req, err := http.NewRequest(method, s.urls[node]+path, body)
	if err != nil {
		s.t.Error(err)
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	if req.ContentLength != 0 {
		req.Header.Set("Content-Type", form)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return resp.StatusCode, answer, nil
}

// eventually asks until a node takes it.
func (s *storm) eventually(node int, method, path, body string) {
	s.t.Helper()
	var last string
	if !waittest.Until(func() bool {
		status, b, err := s.call(node, method, path, body)
		last = fmt.Sprintf("%d %.300s %v", status, b, err)
		return status/100 == 2
	}) {
		s.t.Fatalf("%s %s at node %d: %s", method, path, node, last)
	}
}

// hit notes that a node does not answer now, or may not.
func (s *storm) hit(node int) { s.harmed[node].Add(1) }

// ready waits until a node answers, and notes that it is whole again.
func (s *storm) ready(node int) {
	s.t.Helper()
	if !waittest.Until(func() bool { status, _, _ := s.call(node, "GET", "/ready", ""); return status == http.StatusOK }) {
		_, b, err := s.call(node, "GET", "/cluster", "")
		s.t.Fatalf("node %d is not ready within %v; GET /cluster: %s %v; it said last:\n%s", node, waittest.Patience, b, err, s.nodes[node].saidLast())
	}
	if s.harmed[node].Load()%2 == 1 {
		s.harmed[node].Add(1)
	}
}

// logNodes logs what each node knows and does, and ends it: for who looks for the reason of a
// cluster that does not come to rest.
func (s *storm) logNodes() {
	s.t.Helper()
	for i := range s.nodes {
		_, cluster, err := s.call(i, "GET", "/cluster", "")
		_, tasks, _ := s.call(i, "GET", "/tasks?statuses=enqueued,processing&limit=3", "")
		_, oldest, _ := s.call(i, "GET", "/tasks?statuses=enqueued,processing&limit=3&reverse=true", "")
		s.t.Logf("node %d: GET /cluster: %s %v\nnewest tasks: %s\noldest tasks: %s", i, cluster, err, tasks, oldest)
	}
	for i, p := range s.nodes {
		s.t.Logf("node %d does:\n%s", i, p.quit())
	}
}

// see returns what a node says of the cluster.
func (s *storm) see(node int) (c seen, ok bool) {
	_, b, err := s.call(node, "GET", "/cluster", "")
	return c, err == nil && json.Unmarshal(b, &c) == nil
}

// leader is the node that takes writes by its own word; a drawn one where none does.
func (s *storm) leader() int {
	for i := range s.nodes {
		if c, ok := s.see(i); ok && c.Node.Role == "leader" {
			return i
		}
	}
	return s.rng.IntN(len(s.nodes))
}
