//go:build unix

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
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

	"github.com/google/uuid"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/waittest"
)

// A process is one that is killed and stopped by chance.
type process struct {
	t       *testing.T
	name    string
	program string
	args    []string
	env     []string
	log     string

	mu  sync.Mutex
	cmd *exec.Cmd
}

// start starts the process, where it does not run.
func (p *process) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		return
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer log.Close()
	p.cmd = exec.Command(p.program, p.args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, log, log
	if err := p.cmd.Start(); err != nil {
		p.t.Errorf("start %s: %v", p.name, err)
		p.cmd = nil
	}
}

// signal sends one, and waits for the end where it is one that ends.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(s) // it may have ended
	if s == syscall.SIGKILL || s == syscall.SIGTERM {
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// A storm is a cluster of processes, with what clients were told by it.
type storm struct {
	t     *testing.T
	rng   *rand.Rand
	nats  []*process
	nodes []*process
	dirs  []string
	urls  []string
	key   string
	http  http.Client

	hit    []atomic.Bool // nodes that are killed, stopped, or not ready again
	failed []atomic.Int64
	asked  atomic.Int64

	mu    sync.Mutex
	told  map[string]string // acked, refused or unknown, by "kind id"
	acks  []time.Time       // when requests that were acknowledged began
	ended time.Time         // of the last of them
}

// freeAddrs returns addresses that nobody listens on now.
func freeAddrs(t *testing.T, n int) (addrs []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}

func openStorm(t *testing.T, seed uint64) *storm {
	t.Helper()
	bin := t.TempDir()
	for name, pkg := range map[string]string{"parley": "../../cmd/parley", "nats-server": "github.com/nats-io/nats-server/v2"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, name), pkg).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "openai.wasm"), shipped(t, "openai"), 0o600); err != nil {
		t.Fatal(err)
	}
	const n = 3
	s := &storm{
		t: t, rng: rand.New(rand.NewPCG(seed, 0)), key: "a master key of 26 bytes..", told: map[string]string{},
		hit: make([]atomic.Bool, n), failed: make([]atomic.Int64, n),
		http: http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	addrs := freeAddrs(t, 3*n)
	var clients, routes []string
	for i := range n {
		clients, routes = append(clients, "nats://"+addrs[i]), append(routes, strconv.Quote("nats://"+addrs[n+i]))
		s.urls = append(s.urls, "http://"+addrs[2*n+i])
	}
	for i := range n {
		dir := t.TempDir()
		conf := fmt.Sprintf("server_name: nats-%d\nlisten: %q\njetstream { store_dir: %q, max_file_store: 4GB, sync_interval: always }\ncluster { name: storm, listen: %q, routes: [%s] }\n",
			i, addrs[i], dir, addrs[n+i], strings.Join(routes, ", "))
		if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		s.nats = append(s.nats, &process{t: t, name: fmt.Sprintf("NATS %d", i), program: filepath.Join(bin, "nats-server"), args: []string{"--config", filepath.Join(dir, "conf")}, log: filepath.Join(dir, "log")})
		s.nats[i].start()
		s.dirs = append(s.dirs, t.TempDir())
		env := append(os.Environ(), "PARLEY_NO_ANALYTICS=true", "PARLEY_MASTER_KEY="+s.key, "PARLEY_HTTP_ADDR="+addrs[2*n+i], "PARLEY_DB_PATH="+s.dirs[i],
			"PARLEY_CLUSTER_NAME=storm", "PARLEY_CLUSTER_NATS="+strings.Join(clients, ","), "PARLEY_CLUSTER_NATS_SYNCED=true",
			"PARLEY_CLUSTER_SNAPSHOT_EVERY=20s", "PARLEY_PLUGIN_LOCK=off", "PARLEY_PLUGIN_DIR="+bin, "PARLEY_LOG_LEVEL=warn")
		s.nodes = append(s.nodes, &process{t: t, name: fmt.Sprintf("node %d", i), program: filepath.Join(bin, "parley"), args: []string{"serve"}, env: env, log: filepath.Join(s.dirs[i], "log")})
	}
	t.Cleanup(func() {
		for _, p := range slices.Concat(s.nodes, s.nats) {
			p.signal(syscall.SIGCONT)
			p.signal(syscall.SIGKILL)
			if b, err := os.ReadFile(p.log); err == nil && t.Failed() {
				t.Logf("%s said last:\n%s", p.name, b[max(0, len(b)-3000):])
			}
		}
	})
	c, _, err := host.LoadConfig(host.Sources{Flags: map[string]string{"cluster-name": "storm", "cluster-nats": strings.Join(clients, ",")}, Only: host.ClusterOptions()})
	if err != nil {
		t.Fatal(err)
	}
	waittest.For(t, "the log is made", func() bool { return host.CreateCluster(t.Context(), c, n) == nil })
	for _, p := range s.nodes {
		p.start()
	}
	for i := range s.nodes {
		s.ready(i)
	}
	return s
}

// call asks a node once. status 0: there was no answer.
func (s *storm) call(node int, method, path, body string) (status int, answer []byte, err error) {
	req, err := http.NewRequest(method, s.urls[node]+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		return 0, nil, err
	}
	return resp.StatusCode, answer, nil
}

// ready waits until a node answers.
func (s *storm) ready(node int) {
	waittest.Until(func() bool { status, _, _ := s.call(node, "GET", "/ready", ""); return status == http.StatusOK })
	s.hit[node].Store(false)
}

// leader is the node that takes writes by its own word; a drawn one where none does.
func (s *storm) leader() int {
	for i := range s.nodes {
		var c seen
		if _, b, err := s.call(i, "GET", "/cluster", ""); err == nil && json.Unmarshal(b, &c) == nil && c.Node.Role == "leader" {
			return i
		}
	}
	return s.rng.IntN(len(s.nodes))
}

// write sends things that nobody sent before, to nodes by chance, and notes what the
// answers say of each.
func (s *storm) write(writer int, seed uint64, stop <-chan struct{}) {
	rng := rand.New(rand.NewPCG(seed, uint64(writer)+1))
	for n := writer * 1_000_000; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		id := strconv.Itoa(n)
		kind, method, path, body := "document", "POST", "/indexes/c/documents?primaryKey=id", fmt.Sprintf(`[{"id":%s,"title":"word%d of writer%d"}]`, id, n%100, writer)
		switch rng.IntN(10) {
		case 0:
			id = uuid.NewString()
			kind, path, body = "key", "/keys", fmt.Sprintf(`{"uid":%q,"actions":["search"],"indexes":["*"],"expiresAt":null}`, id)
		case 1:
			kind, method, path, body = "workspace", "PATCH", "/chats/w"+id+"/settings", `{"source":"openAi","apiKey":"sk-x"}`
		}
		began := time.Now()
		status, answer, err := s.call(rng.IntN(len(s.nodes)), method, path, body)
		told := "unknown"
		switch op, _ := err.(interface{ Unwrap() error }); {
		case status/100 == 2:
			told = "acked"
		case status == http.StatusServiceUnavailable && (bytes.Contains(answer, []byte(`"cluster_no_leader"`)) || bytes.Contains(answer, []byte(`"cluster_stale"`))):
			told = "refused"
		case status == 0 && op != nil && strings.Contains(err.Error(), "connection refused"):
			told = "refused"
		case status != 0 && status != http.StatusServiceUnavailable:
			s.t.Errorf("%s %s: status %d %.300s", method, path, status, answer)
		}
		s.mu.Lock()
		s.told[kind+" "+id] = told
		if told == "acked" {
			s.acks, s.ended = append(s.acks, began), time.Now()
		}
		s.mu.Unlock()
		if told == "refused" { // as Retry-After asks for, though sooner
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// search asks a node again and again, and counts the answers that fail while nobody
// hit the node.
func (s *storm) search(node int, stop <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if s.hit[node].Load() {
			continue
		}
		status, answer, err := s.call(node, "POST", "/indexes/c/search", `{"q":"word7"}`)
		s.asked.Add(1)
		if status != http.StatusOK && !s.hit[node].Load() {
			if s.failed[node].Add(1) == 1 {
				s.t.Logf("a search of node %d: status %d %.200s %v", node, status, answer, err)
			}
		}
	}
}

// round does one thing to the cluster, and returns what, and how long writes took
// until one was acknowledged that began later.
func (s *storm) round() (what string, gap time.Duration) {
	pause := time.Duration(500+s.rng.IntN(5500)) * time.Millisecond
	node, server := s.rng.IntN(len(s.nodes)), s.rng.IntN(len(s.nats))
	leader := s.leader()
	stop := func(p *process) func() { p.signal(syscall.SIGSTOP); return func() { p.signal(syscall.SIGCONT) } }
	kill := func(p *process) func() { p.signal(syscall.SIGKILL); return p.start }
	var undo []func()
	hit := func(how func(*process) func(), nodes ...int) {
		for _, i := range nodes {
			s.hit[i].Store(true)
			undo = append(undo, how(s.nodes[i]), func() { s.ready(i) })
		}
	}
	at := time.Now()
	switch s.rng.IntN(9) {
	case 0, 1:
		what = "kill the leader"
		hit(kill, leader)
	case 2:
		what = "stop the leader"
		hit(stop, leader)
	case 3:
		what = "kill a node"
		hit(kill, node)
	case 4:
		what = "stop a node"
		hit(stop, node)
	case 5:
		what = "kill a server of NATS"
		undo = append(undo, kill(s.nats[server]))
	case 6:
		what = "stop a server of NATS"
		undo = append(undo, stop(s.nats[server]))
	case 7:
		what = "kill the leader and a server of NATS"
		undo = append(undo, kill(s.nats[server]))
		hit(kill, leader)
	case 8:
		what = "kill all nodes, and two servers of NATS"
		undo = append(undo, kill(s.nats[server]), kill(s.nats[(server+1)%len(s.nats)]))
		hit(kill, 0, 1, 2)
	}
	time.Sleep(pause)
	for _, f := range undo {
		f()
	}
	ok := waittest.Until(func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.acks) == 0 || !s.acks[len(s.acks)-1].After(at) {
			return false
		}
		gap = s.ended.Sub(at)
		for i := len(s.acks) - 1; i >= 0 && s.acks[i].After(at); i-- {
			gap = min(gap, s.acks[i].Sub(at))
		}
		return true
	})
	if !ok {
		s.t.Fatalf("after %q no write is acknowledged", what)
	}
	return what, gap
}

// names returns what a node has of a kind of things.
func (s *storm) names(node int, kind string) map[string]bool {
	s.t.Helper()
	path := map[string]string{"document": "/indexes/c/documents?fields=id&", "key": "/keys?", "workspace": "/chats?"}[kind]
	out := map[string]bool{}
	for {
		status, b, err := s.call(node, "GET", fmt.Sprintf("%slimit=1000&offset=%d", path, len(out)), "")
		var page struct {
			Results []struct {
				ID  *int
				UID string
			}
		}
		if err != nil || status != http.StatusOK || json.Unmarshal(b, &page) != nil {
			s.t.Fatalf("GET %s at node %d: %d %.300s %v", path, node, status, b, err)
		}
		if len(page.Results) == 0 {
			return out
		}
		for _, r := range page.Results {
			if r.ID != nil {
				r.UID = strconv.Itoa(*r.ID)
			}
			out[strings.TrimPrefix(r.UID, "w")] = true
		}
	}
}

// TestClusterChaos kills and stops nodes and servers of NATS by chance, while
// clients write and search. What was acknowledged is there on all nodes, what was
// refused is not, and their records are equal to the byte. CHAOS_ROUNDS and
// CHAOS_SEED say how long, and which chance.
func TestClusterChaos(t *testing.T) {
	if !long() {
		t.Skip("runs six processes and kills them: LONG=1 runs it")
	}
	rounds, _ := strconv.Atoi(cmp.Or(os.Getenv("CHAOS_ROUNDS"), "10"))
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("CHAOS_SEED"), "1"), 10, 64)
	if err != nil || rounds < 1 {
		t.Fatalf("CHAOS_ROUNDS and CHAOS_SEED are numbers: %d rounds, %v", rounds, err)
	}
	s := openStorm(t, seed)
	waittest.For(t, "the index is there", func() bool {
		status, _, _ := s.call(0, "POST", "/indexes", `{"uid":"c","primaryKey":"id"}`)
		return status == http.StatusAccepted
	})
	waittest.For(t, "all nodes have it", func() bool {
		for i := range s.nodes {
			if status, _, _ := s.call(i, "GET", "/indexes/c", ""); status != http.StatusOK {
				return false
			}
		}
		return true
	})
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range s.nodes {
		clients.Go(func() { s.write(i, seed, stop) })
		clients.Go(func() { s.search(i, stop) })
	}
	gaps := map[string][]time.Duration{}
	for i := range rounds {
		what, gap := s.round()
		gaps[what] = append(gaps[what], gap)
		t.Logf("round %d: %s: a write is taken after %v", i+1, what, gap.Round(10*time.Millisecond))
	}
	close(stop)
	clients.Wait()
	s.check()

	count := map[string]int{}
	for _, told := range s.told {
		count[told]++
	}
	t.Logf("seed %d, %d rounds: %d writes acknowledged, %d refused, %d unknown; %d searches", seed, rounds, count["acked"], count["refused"], count["unknown"], s.asked.Load())
	for _, what := range slices.Sorted(maps.Keys(gaps)) {
		slices.Sort(gaps[what])
		t.Logf("%s: %d rounds, writes again after %v (median), %v (most)", what, len(gaps[what]), gaps[what][len(gaps[what])/2].Round(10*time.Millisecond), gaps[what][len(gaps[what])-1].Round(10*time.Millisecond))
	}
	for i := range s.failed {
		t.Logf("node %d: %d searches failed while nobody hit it", i, s.failed[i].Load())
	}
	if count["acked"] < 10*rounds {
		t.Errorf("only %d writes were acknowledged: that shows little", count["acked"])
	}
}

// check compares what clients were told with what the nodes have.
func (s *storm) check() {
	t := s.t
	waittest.For(t, "all nodes are level, and no task waits", func() bool {
		want := uint64(0)
		for i := range s.nodes {
			var c seen
			if _, b, err := s.call(i, "GET", "/cluster", ""); err != nil || json.Unmarshal(b, &c) != nil || c.Stale || c.Words < c.Node.Seq {
				return false
			}
			want = cmp.Or(want, c.Node.Seq)
			if _, b, _ := s.call(i, "GET", "/tasks?statuses=enqueued,processing&limit=1", ""); c.Node.Seq != want || !bytes.Contains(b, []byte(`"total":0`)) {
				return false
			}
		}
		return true
	})
	if _, b, _ := s.call(0, "GET", "/tasks?statuses=failed,canceled&limit=3", ""); !bytes.Contains(b, []byte(`"total":0`)) {
		t.Errorf("tasks failed: %s", b)
	}
	for i := range s.nodes {
		has := map[string]map[string]bool{}
		for _, kind := range []string{"document", "key", "workspace"} {
			has[kind] = s.names(i, kind)
		}
		lost, there := 0, 0
		for what, told := range s.told {
			kind, id, _ := strings.Cut(what, " ")
			switch {
			case told == "acked" && !has[kind][id]:
				if lost++; lost <= 3 {
					t.Errorf("node %d: %s was acknowledged, and is not there", i, what)
				}
			case told == "refused" && has[kind][id]:
				if there++; there <= 3 {
					t.Errorf("node %d: %s was refused, and is there", i, what)
				}
			}
		}
		if lost+there > 0 {
			t.Errorf("node %d: %d acknowledged things are not there, %d refused ones are", i, lost, there)
		}
	}
	var answers, records []string
	for i := range s.nodes {
		_, b, _ := s.call(i, "POST", "/indexes/c/search", `{"q":"word7","limit":1000,"showRankingScore":true}`)
		answers = append(answers, withoutTime(string(b)))
	}
	leader := s.leader() // it ends last, so that nobody else begins a term
	for i := range s.nodes {
		s.nodes[(leader+1+i)%len(s.nodes)].signal(syscall.SIGTERM)
	}
	for i, dir := range s.dirs {
		records = append(records, sharedRecords(t, dir))
		if answers[i] != answers[0] || !strings.Contains(answers[0], `"hits":[{`) {
			t.Errorf("node %d finds %d bytes, node 0 %d, and they differ or are none", i, len(answers[i]), len(answers[0]))
		}
		if i > 0 && records[i] != records[0] {
			t.Errorf("the records of node %d differ from those of node 0", i)
		}
	}
}
