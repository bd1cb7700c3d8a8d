package e2e

import (
	"encoding/json"
	"fmt"
	"io"
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

	"github.com/parley-search/parley/host/internal/base/waittest"
)

// A figure is what several runs took.
type figure []float64

func (f figure) String() string {
	slices.Sort(f)
	return fmt.Sprintf("%.4g (%.4g to %.4g of %d)", f[len(f)/2], f[0], f[len(f)-1], len(f))
}

const figureRuns = 5

// openAlone starts a host without a cluster as the last of the nodes, and returns its place.
func (s *storm) openAlone() (at int) {
	at = len(s.nodes)
	addr, dir := freeAddrs(s.t, 1)[0], s.t.TempDir()
	env := append(os.Environ(), "PARLEY_NO_ANALYTICS=true", "PARLEY_MASTER_KEY="+s.key, "PARLEY_HTTP_ADDR="+addr, "PARLEY_DB_PATH="+dir,
		"PARLEY_PLUGIN_LOCK=off", "PARLEY_LOG_LEVEL=warn")
	p := &process{t: s.t, name: "a host alone", program: s.program, args: []string{"serve"}, env: env, log: filepath.Join(s.bin, "alone.log")}
	s.nodes, s.dirs, s.urls = append(s.nodes, p), append(s.dirs, dir), append(s.urls, "http://"+addr)
	s.harmed = append(s.harmed[:at:at], atomic.Int64{})
	p.start()
	s.ready(at)
	return at
}

// figureDocs is a batch of n documents of some 150 bytes, from a number on.
func figureDocs(from, n int) string {
	var b strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, `,{"id":%d,"title":"document number %d","text":"word%d follows word%d and word%d, as in all documents of this kind, of which there are many"}`, i, i, i%97, i%89, i%1009)
	}
	return "[" + b.String()[1:] + "]"
}

// index has a node take documents, and returns how many it took in a second, until the
// last of them is found.
func (s *storm) index(node int, uid string, batches, each int) float64 {
	s.t.Helper()
	began := time.Now()
	var last struct{ TaskUID uint64 }
	for i := range batches {
		status, b, err := s.call(node, "POST", "/indexes/"+uid+"/documents?primaryKey=id", figureDocs(i*each, each))
		if err != nil || status != http.StatusAccepted || json.Unmarshal(b, &last) != nil {
			s.t.Fatalf("documents: %d %.300s %v", status, b, err)
		}
	}
	waittest.For(s.t, "the documents are there", func() bool {
		_, b, _ := s.call(node, "GET", "/tasks/"+strconv.FormatUint(last.TaskUID, 10), "")
		return strings.Contains(string(b), `"status":"succeeded"`)
	})
	return float64(batches*each) / time.Since(began).Seconds()
}

// rss returns the resident memory of a process in MiB, and the CPU that it took.
func (p *process) rss(t *testing.T) (mib float64, cpu time.Duration) {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid))
	b, err := os.ReadFile(filepath.Join(dir, "status"))
	stat, wrong := os.ReadFile(filepath.Join(dir, "stat"))
	_, rest, ok := strings.Cut(string(b), "VmRSS:")
	if err != nil || wrong != nil || !ok {
		t.Fatal(err, wrong, ok)
	}
	kib, _ := strconv.Atoi(strings.Fields(rest)[0])
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return float64(kib) / 1024, time.Duration(user+system) * 10 * time.Millisecond // a tick is 10 ms on Linux
}

// hold gives each of the nodes half a core, where this process may.
func (s *storm) hold(nodes int) error {
	for i := range nodes {
		dir := fmt.Sprintf("/sys/fs/cgroup/cpu/parley-%d-%d", os.Getpid(), i)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		pid := s.nodes[i].cmd.Process.Pid
		s.t.Cleanup(func() {
			waittest.Until(func() bool { return os.Remove(dir) == nil }) // once the process is gone
		})
		for _, f := range [][2]string{{"cpu.cfs_quota_us", "50000"}, {"cgroup.procs", strconv.Itoa(pid)}} {
			if err := os.WriteFile(filepath.Join(dir, f[0]), []byte(f[1]), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// searches returns how many searches some nodes answer in a second.
func (s *storm) searches(nodes int, d time.Duration) float64 {
	var n atomic.Int64
	var asking sync.WaitGroup
	until := time.Now().Add(d)
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	for c := range 4 * nodes {
		asking.Go(func() {
			for i := c; time.Now().Before(until); i++ {
				req, _ := http.NewRequest("POST", s.urls[c%nodes]+"/indexes/f0/search", strings.NewReader(fmt.Sprintf(`{"q":"word%d document"}`, i%1009)))
				req.Header.Set("Authorization", "Bearer "+s.key)
				req.Header.Set("Content-Type", "application/json")
				resp, err := client.Do(req)
				if err != nil || resp.StatusCode != http.StatusOK {
					s.t.Errorf("a search: %v %v", resp, err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				n.Add(1)
			}
		})
	}
	asking.Wait()
	return float64(n.Load()) / d.Seconds()
}

// TestClusterFigures measures what the page of clusters tells. It asserts nothing but
// that what it measures works.
func TestClusterFigures(t *testing.T) {
	if os.Getenv("FIGURES") == "" {
		t.Skip("measures for some minutes: FIGURES=1 on a machine that does nothing else")
	}
	s := openStorm(t, stormWishes{direct: true})
	alone := s.openAlone()
	leader := s.leader()
	follower := (leader + 1) % stormNodes
	places := []struct {
		name string
		node int
	}{{"a host alone", alone}, {"the leader", leader}, {"a follower", follower}}

	mib := map[string]figure{}
	time.Sleep(3 * time.Second)
	for _, p := range places {
		m, before := s.nodes[p.node].rss(t)
		began := time.Now()
		time.Sleep(4 * time.Second)
		_, after := s.nodes[p.node].rss(t)
		mib[p.name] = append(mib[p.name], m)
		t.Logf("idle, %s: %.0f MiB, %.1f %% of a core", p.name, m, 100*(after-before).Seconds()/time.Since(began).Seconds())
	}

	small := map[string]figure{}
	for range figureRuns {
		for _, p := range places {
			var took figure
			for i := range 100 {
				began := time.Now()
				s.eventually(p.node, "PATCH", "/experimental-features", fmt.Sprintf(`{"containsFilter":%t}`, i%2 == 0))
				took = append(took, time.Since(began).Seconds()*1e3)
			}
			slices.Sort(took)
			small[p.name] = append(small[p.name], took[len(took)/2])
		}
	}
	for _, p := range places {
		t.Logf("a small write, %s: ms, median of 100: %v", p.name, small[p.name])
	}

	docs := map[string]figure{}
	for run := range figureRuns {
		for _, p := range places[:2] {
			docs[p.name] = append(docs[p.name], s.index(p.node, "f"+strconv.Itoa(run), 10, 1000))
		}
	}
	for _, p := range places[:2] {
		t.Logf("documents in a second, %s: %v", p.name, docs[p.name])
	}

	if err := s.hold(stormNodes); err != nil {
		t.Logf("searches by nodes are not measured: no node can be held to half a core: %v", err)
	} else {
		reads := map[int]figure{}
		for range figureRuns {
			for n := 1; n <= stormNodes; n++ {
				reads[n] = append(reads[n], s.searches(n, 2*time.Second))
			}
		}
		for n := 1; n <= stormNodes; n++ {
			t.Logf("searches in a second, %d nodes of half a core each: %v", n, reads[n])
		}
	}
}

// TestClusterFailover measures how long writes and searches wait when the leader is
// killed, alone and with the server of NATS that leads the stream.
func TestClusterFailover(t *testing.T) {
	if os.Getenv("FIGURES") == "" {
		t.Skip("measures for some minutes: FIGURES=1 on a machine that does nothing else")
	}
	s := openStorm(t, stormWishes{direct: true})
	s.begin(1)
	for _, withNATS := range []bool{false, true} {
		var writes, searches figure
		for range figureRuns {
			at := s.leader()
			other := (at + 1) % stormNodes
			var wait sync.WaitGroup
			stop := make(chan struct{})
			var most time.Duration
			wait.Go(func() {
				for last := time.Now(); ; {
					select {
					case <-stop:
						return
					default:
					}
					if status, _, _ := s.call(other, "POST", "/indexes/c/search", `{"q":"word7"}`); status == http.StatusOK {
						most, last = max(most, time.Since(last)), time.Now()
					}
				}
			})
			time.Sleep(time.Second)
			server := s.streamLeader()
			began := time.Now()
			undo := s.harmNodes(kill, at)
			if withNATS {
				undo = append([]func(){kill(s.nats[server])}, undo...)
			}
			s.acknowledged(began)
			writes = append(writes, s.gap(began).Seconds())
			time.Sleep(time.Second)
			close(stop)
			wait.Wait()
			searches = append(searches, most.Seconds()*1e3)
			for _, f := range undo {
				f()
			}
			time.Sleep(3 * time.Second)
		}
		t.Logf("the leader killed, the stream's leader too %v: writes again after s: %v; the longest between two searches of another node, ms: %v", withNATS, writes, searches)
	}
	s.calm()
	t.Logf("chats of nodes that nobody hit: %d written to their end, %d broken off; searches %d answered, %d failed", s.seen.written.Load(), s.seen.cut.Load(), s.seen.answered.Load(), s.seen.failed.Load())
}

// TestClusterJoin measures how long a node without data takes to join from a snapshot
// of JOIN_MB (200) while clients write.
func TestClusterJoin(t *testing.T) {
	if os.Getenv("FIGURES") == "" {
		t.Skip("makes a snapshot of 200 MB: FIGURES=1 runs it")
	}
	mb, err := strconv.Atoi(os.Getenv("JOIN_MB"))
	if err != nil {
		mb = 200
	}
	s := openStorm(t, stormWishes{direct: true, env: []string{"PARLEY_CLUSTER_SNAPSHOT_EVERY=1h", "PARLEY_HTTP_PAYLOAD_SIZE_LIMIT=100 MB"}})
	leader := s.leader()
	s.eventually(leader, "POST", "/indexes", `{"uid":"bulk","primaryKey":"id"}`)
	const each, body = 1000, 2000 // documents of a request, bytes of a document
	for from := 0; from < mb<<20; from += each * body {
		var b strings.Builder
		for i := range each {
			n := from/body + i
			fmt.Fprintf(&b, `,{"id":%d,"title":"word%d","text":%q}`, n, n%100, figureText(n, body-60))
		}
		s.eventually(leader, "POST", "/indexes/bulk/documents", "["+b.String()[1:]+"]")
	}
	waittestLong(t, "all documents are there", func() bool {
		_, b, _ := s.call(leader, "GET", "/tasks?statuses=enqueued,processing&limit=1", "")
		return strings.Contains(string(b), `"total":0`)
	})
	began := time.Now()
	out, err := exec.Command(s.program, "cluster", "snapshot", "--url", s.urls[leader], "--key", s.key).CombinedOutput()
	if err != nil {
		t.Fatalf("parley cluster snapshot: %v %s", err, out)
	}
	t.Logf("%s in %v", strings.TrimSpace(string(out)), time.Since(began))
	s.begin(1) // load
	at := (leader + 1) % stormNodes
	s.hit(at)
	s.nodes[at].signal(syscall.SIGTERM)
	if err := os.RemoveAll(filepath.Join(s.dirs[at], "badger")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bodies", "indexes"} {
		_ = os.RemoveAll(filepath.Join(s.dirs[at], name))
	}
	began = time.Now()
	s.nodes[at].start()
	waittestLong(t, "the node answers", func() bool { c, ok := s.see(at); return ok && c.Node.Seq > 0 })
	restored := time.Since(began)
	waittestLong(t, "the node is ready", func() bool { status, _, _ := s.call(at, "GET", "/ready", ""); return status == http.StatusOK })
	ready := time.Since(began)
	waittestLong(t, "the node is level", func() bool {
		c, ok := s.see(at)
		l, ok2 := s.see(leader)
		return ok && ok2 && c.Words+20 > l.Node.Seq
	})
	t.Logf("a node without data has the records after %v, is ready after %v and finds everything after %v, while clients write", restored, ready, time.Since(began))
	s.ready(at)
	s.calm()
	s.check()
}

// waittestLong is [waittest.For] for what takes long.
func waittestLong(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 20 {
		if waittest.Until(done) {
			return
		}
	}
	t.Fatalf("%s: not within %v", what, 20*waittest.Patience)
}

// figureText is some text of n bytes.
func figureText(seed, n int) string {
	var b strings.Builder
	for i := seed; b.Len() < n; i++ {
		b.WriteString("word" + strconv.Itoa(i*7919%5003) + " ")
	}
	return b.String()[:n]
}
