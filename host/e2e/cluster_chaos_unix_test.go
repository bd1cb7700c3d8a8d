//go:build unix

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// names returns what a node has of a kind of things.
func (s *storm) names(node int, kind string) map[string]bool {
	s.t.Helper()
	path := map[string]string{"document": "/indexes/c/documents?fields=id&", "key": "/keys?", "workspace": "/chats?", "index": "/indexes?", "file": "/indexes/f/files?"}[kind]
	out := map[string]bool{}
	for {
		status, b, err := s.call(node, "GET", fmt.Sprintf("%slimit=1000&offset=%d", path, len(out)), "")
		var page struct {
			Results []struct {
				ID        *int
				UID, Path string
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
			r.UID = cmp.Or(r.UID, strings.TrimSuffix(r.Path, ".md"))
			out[strings.TrimLeft(r.UID, "wx")] = true
		}
	}
}

// TestClusterChaos kills and stops nodes and servers of NATS by chance, while
// clients write and search. What was acknowledged is there on all nodes, what was
// refused is not, and their records are equal to the byte. CHAOS_ROUNDS and
// CHAOS_SEED say how long, and which chance; CHAOS_NODES, of how many nodes: 3 or 5.
func TestClusterChaos(t *testing.T) {
	if !house.Long() {
		t.Skip("runs six processes and kills them: LONG=1 runs it")
	}
	rounds, _ := strconv.Atoi(cmp.Or(os.Getenv("CHAOS_ROUNDS"), "10"))
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("CHAOS_SEED"), "1"), 10, 64)
	if err != nil || rounds < 1 {
		t.Fatalf("CHAOS_ROUNDS and CHAOS_SEED are numbers: %d rounds, %v", rounds, err)
	}
	nodes, err := strconv.Atoi(cmp.Or(os.Getenv("CHAOS_NODES"), "3"))
	if err != nil || nodes != 3 && nodes != 5 {
		t.Fatalf("CHAOS_NODES is 3 or 5: %d, %v", nodes, err)
	}
	s := openStorm(t, stormWishes{seed: seed, nodes: nodes})
	s.begin(seed)
	gaps := map[string][]time.Duration{}
	for i := range rounds {
		what, gap := s.round()
		gaps[what] = append(gaps[what], gap)
		t.Logf("round %d: %s: a write is taken after %v", i+1, what, gap.Round(10*time.Millisecond))
		if i%3 == 2 {
			s.rest()
		}
	}
	s.calm()
	s.check()

	count := map[string]int{}
	for _, told := range s.told {
		count[told]++
	}
	t.Logf("seed %d, %d rounds: %d writes acknowledged, %d deletions of keys, %d refused, %d unknown", seed, rounds, count["acked"], count["gone"], count["refused"], count["unknown"])
	t.Logf("nodes that a signal ended wrote %d chats to their end; %d writes to nodes that nobody hit got no answer within %v", s.seen.drained.Load(), s.seen.silent.Load(), stormTimeout)
	t.Logf("of nodes that nobody hit meanwhile: %d searches answered, %d failed; %d chats written to their end, %d broken off; %d and %d were sent to all", s.seen.answered.Load(), s.seen.failed.Load(), s.seen.written.Load(), s.seen.cut.Load(), s.seen.searches.Load(), s.seen.chats.Load())
	for _, what := range slices.Sorted(maps.Keys(gaps)) {
		slices.Sort(gaps[what])
		t.Logf("%s: %d rounds, writes again after %v (median), %v (most)", what, len(gaps[what]), gaps[what][len(gaps[what])/2].Round(10*time.Millisecond), gaps[what][len(gaps[what])-1].Round(10*time.Millisecond))
	}
	if count["acked"] < 10*rounds || s.seen.answered.Load() < int64(20*rounds) || s.seen.written.Load() < int64(rounds) {
		t.Error("too few writes, searches or chats: that shows little")
	}
}

// begin makes what clients need, and has them begin.
func (s *storm) begin(seed uint64) {
	t := s.t
	s.eventually(0, "POST", "/indexes", `{"uid":"c","primaryKey":"id"}`)
	s.http.Timeout = waittest.Patience // each node compiles them
	install := func(name string, module []byte) {
		form, body := upload("plugin", "plugin.wasm", string(module))
		waittest.For(t, name+" is installed", func() bool {
			status, b, err := s.send(0, "POST", "/plugins/install/file", form, strings.NewReader(body))
			return s.judge("install of "+name, status, b, err) == "acked"
		})
	}
	install("openai", house.Shipped(t, "openai"))
	guards := ""
	if !s.mixed { // versions before have no guards
		install("mask", house.Built(t, "plugins/guard/mask"))
		guards = `,"guards":[{"plugin":"mask"}]`
		s.eventually(0, "PATCH", "/indexes/c/settings", `{"embedders":{"own":{"source":"userProvided","dimensions":2}}}`)
		form, body := upload("file", "first.md", "# First\n\nIt makes the index.\n")
		waittest.For(t, "an index for files is made", func() bool {
			status, b, err := s.send(0, "POST", "/indexes/f/files", form, strings.NewReader(body))
			return s.judge("the first file", status, b, err) == "acked"
		})
	}
	s.eventually(0, "PATCH", "/chats/talk/settings", fmt.Sprintf(`{"source":"openAi","baseUrl":%q,"apiKey":"sk-x"%s}`, s.speak(), guards))
	for i := range s.nodes {
		s.eventually(i, "GET", "/indexes/c", "")
		if !s.mixed {
			s.eventually(i, "GET", "/indexes/f", "")
		}
		s.eventually(i, "POST", "/chats/talk/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"speak"}]}`)
	}
	s.http.Timeout = stormTimeout
	for i := range s.nodes {
		s.clients.Go(func() { s.write(i, seed) })
		s.clients.Go(func() { s.search(i) })
		s.clients.Go(func() { s.chat(i) })
	}
	s.clients.Go(func() { s.install(seed) })
	if !s.mixed { // what versions before 0.3 cannot verify halts them
		s.clients.Go(func() { s.intrude(seed) })
	}
}

// check compares what clients were told with what the nodes have.
func (s *storm) check() {
	t := s.t
	s.rest()
	if _, b, _ := s.call(0, "GET", "/tasks?statuses=failed,canceled&limit=3", ""); !bytes.Contains(b, []byte(`"total":0`)) {
		t.Errorf("tasks failed: %s", b)
	}
	kinds := []string{"document", "key", "workspace"}
	if !s.mixed {
		kinds = append(kinds, "index", "file") // which clients of a mixed storm do not write
	}
	acked := map[string]int{}
	for what, told := range s.told {
		if kind, _, _ := strings.Cut(what, " "); told == "acked" {
			acked[kind]++
		}
	}
	t.Logf("acknowledged: %v", acked)
	for _, kind := range kinds {
		if acked[kind] == 0 {
			t.Errorf("nothing of the kind %s was acknowledged: that shows little", kind)
		}
	}
	for i := range s.nodes {
		has := map[string]map[string]bool{}
		for _, kind := range kinds {
			has[kind] = s.names(i, kind)
		}
		lost, there := 0, 0
		for what, told := range s.told {
			kind, id, _ := strings.Cut(what, " ")
			switch {
			case has[kind] == nil: // one of many values, see values
			case told == "acked" && !has[kind][id]:
				if lost++; lost <= 3 {
					t.Errorf("node %d: %s was acknowledged, and is not there", i, what)
				}
			case (told == "refused" || told == "gone") && has[kind][id]:
				if there++; there <= 3 {
					t.Errorf("node %d: %s was told to be %s, and is there", i, what, told)
				}
			}
		}
		if lost+there > 0 {
			t.Errorf("node %d: %d acknowledged things are not there, %d others are", i, lost, there)
		}
	}
	s.checkValues()
	for i := range s.nodes {
		if log, err := os.ReadFile(s.nodes[i].log); err != nil || bytes.Contains(log, []byte("\npanic: ")) || bytes.Contains(log, []byte("\nfatal error: ")) {
			t.Errorf("node %d died of its own: %v\n%s", i, err, s.nodes[i].saidLast())
		}
		if _, b, _ := s.call(i, "GET", "/cluster", ""); bytes.Contains(b, []byte(`is halted`)) || bytes.Contains(b, []byte(`"halted":`)) {
			t.Errorf("node %d says %s", i, b)
		}
	}
	if s.strays.Load() == 0 && !s.mixed {
		t.Error("nobody wrote stray messages to the log")
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

// behind says which node is not level with the others, or has a task that waits.
func (s *storm) behind() string {
	want := uint64(0)
	for i := range s.nodes {
		c, ok := s.see(i)
		want = cmp.Or(want, c.Node.Seq)
		if !ok || c.Stale || c.Words < c.Node.Seq || c.Node.Seq != want {
			return fmt.Sprintf("node %d: %+v, want message %d", i, c, want)
		}
		if _, b, err := s.call(i, "GET", "/tasks?statuses=enqueued,processing&limit=1", ""); !bytes.Contains(b, []byte(`"total":0`)) {
			return fmt.Sprintf("node %d: tasks %.500s, %v", i, b, err)
		}
	}
	return ""
}

// checkValues holds what clients changed again and again to what they were told: it
// has the value that was acknowledged last, or one of which nobody knows.
func (s *storm) checkValues() {
	may, last := map[string]map[int]bool{}, map[string]int{} // by "kind which"
	for what, told := range s.told {
		which, value, ok := strings.Cut(what, "/")
		n, err := strconv.Atoi(value)
		if !ok || err != nil {
			continue
		}
		if may[which] == nil {
			may[which] = map[int]bool{}
		}
		switch told {
		case "unknown":
			may[which][n] = true
		case "acked":
			last[which] = max(last[which], n)
		}
	}
	for which, n := range last {
		may[which][n] = true
	}
	for i := range s.nodes {
		for which := range may {
			kind, of, _ := strings.Cut(which, " ")
			var got int
			read := func() bool { got = s.value(i, kind, of); return may[which][got] }
			if !waittest.Until(read) { // each node compiles plugins for itself
				s.t.Errorf("node %d: the value of %s is %d, want the last acknowledged, %d, or one of %v", i, which, got, last[which], slices.Sorted(maps.Keys(may[which])))
			}
		}
	}
	if len(may) != len(s.nodes)+1 {
		s.t.Errorf("values of %v were changed, want settings of each writer and a plugin", slices.Sorted(maps.Keys(may)))
	}
}

// value returns what a node has of the settings of a writer, or of the plugin.
func (s *storm) value(node int, kind, of string) (n int) {
	path := map[string]string{"settings": "/indexes/s" + of + "/settings", "plugin": "/plugins"}[kind]
	_, b, err := s.call(node, "GET", path, "")
	var got struct {
		Pagination struct{ MaxTotalHits int }
		Results    []house.ShownPlugin
	}
	if err != nil || json.Unmarshal(b, &got) != nil {
		return -1
	}
	for _, p := range got.Results {
		if p.Name == "plain-c" && p.Use && p.State == "ready" {
			n, _ = strconv.Atoi(strings.TrimPrefix(p.Version, "1.0."))
		}
	}
	return cmp.Or(n, got.Pagination.MaxTotalHits)
}
