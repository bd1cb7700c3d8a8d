package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/testhook"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// texts is where people write what they like: a word for each place. Two of
// them are alike in shape.
type texts func(place string) string

// people are the places of requests; those of the launch are in [surround].
var people = []string{
	"agent", "browser", "client", "header", "requestid", "key", "keyname", "remote", "remotekey", "remotehost",
	"index", "other", "id", "id2", "field", "value", "word", "word2", "genre", "filter", "query", "query2", "facet", "template", "embedkey",
	"embedder", "embedhost", "synonym", "stopword", "pretag", "workspace", "prompt", "message", "model", "tool", "parameter", "taskindex", "exporthost", "exportkey", "pattern",
}

// workload uses the service in all its parts. A line is METHOD /path body; what
// stands in braces is a text. Refused requests belong to it.
const workload = `
PATCH /experimental-features {"network":true,"containsFilter":true,"compositeEmbedders":true,"multimodal":true}
POST /keys {"name":"{keyname}","description":"{keyname}","actions":["search"],"indexes":["*"],"expiresAt":null}
POST /indexes {"uid":"{index}","primaryKey":"id"}
PATCH /indexes/{index}/settings {"filterableAttributes":["{field}","{facet}"],"sortableAttributes":["{field}"],"searchableAttributes":["{field}"],"stopWords":["{stopword}"],"synonyms":{"{synonym}":["{word}"]},"embedders":{"own":{"source":"userProvided","dimensions":2}}}
POST /indexes/{index}/documents?primaryKey=id [{"id":"{id}","{field}":"{word} {word2}","{facet}":"{value}","genre":"{genre}"},{"id":"{id2}","{field}":"{word2}"}]
PATCH /indexes/{other}/settings {"embedders":{"{query2}":{"source":"rest","url":"http://{embedhost}.example/{embedhost}","apiKey":"{embedkey}","dimensions":2,"documentTemplate":"{template}","request":{"i":"{{text}}","m":"{model}"},"response":{"e":"{{embedding}}"},"headers":{"X-Own":"{header}"}}}}
PATCH /indexes/{other}/settings {"embedders":{"{query2}2":{"source":"composite","searchEmbedder":{"source":"rest","url":"http://{embedhost}.example/{embedhost}","apiKey":"{embedkey}","request":{"i":"{{text}}"},"response":"{{embedding}}"},"indexingEmbedder":{"source":"rest","url":"http://{embedhost}.example/","apiKey":"{embedkey}","documentTemplate":"{template}","request":{"i":"{{text}}","m":"{model}"},"response":"{{embedding}}","headers":{"X-Own":"{header}"}}}}}
PATCH /indexes/{other}/settings {"embedders":{"{embedder}":{"source":"rest","url":"http://{embedhost}.example/","request":"{{fragment}}","response":"{{embedding}}","indexingFragments":{"{parameter}":{"value":"{template}"}},"searchFragments":{"{parameter}":{"value":"{{media.{parameter}}}"}}}}}
POST /indexes/{other}/search {"q":"{query}","media":{"{parameter}":"{value}"},"hybrid":{"embedder":"{embedder}"}}
POST /indexes/{other}/search {"media":{"{facet}":"{value}"},"hybrid":{"embedder":"{embedder}"}}
POST /indexes/{index}/search {"q":"{query} {word} -{query2}","filter":"{facet} = {filter}","sort":["{field}:asc"],"facets":["{facet}"],"highlightPreTag":"{pretag}","attributesToRetrieve":["{field}"],"attributesToHighlight":["{field}"],"distinct":"{facet}"}
GET /indexes/{index}/search?q={query}&filter={facet}%20CONTAINS%20{filter}
POST /indexes/{index}/search {"{parameter}":"{value}"}
POST /indexes/{index}/search {"q":"{word}","sort":["{parameter}:asc"]}
POST /indexes/{index}/facet-search {"facetName":"{facet}","facetQuery":"{query}"}
POST /multi-search {"federation":{},"queries":[{"indexUid":"{index}","q":"{query}"},{"indexUid":"{index}","q":"{word}","federationOptions":{"remote":"{remote}"}}]}
PATCH /network {"self":"{remote}","remotes":{"{remote}":{"url":"http://{remotehost}.example","searchApiKey":"{remotekey}"}}}
GET /indexes/{index}/documents?filter={facet}%20=%20{filter}
GET /indexes/{index}/documents/{id}
POST /indexes/{index}/documents/delete-batch ["{id2}"]
POST /indexes/{index}/documents/delete {"filter":"{facet} = {filter}"}
DELETE /indexes/{index}/documents/{id2}
GET /tasks?indexUids={taskindex}
GET /indexes/{taskindex}/stats
POST /swap-indexes [{"indexes":["{index}","{other}"]}]
POST /export {"url":"ftp://{exporthost}.example","apiKey":"{exportkey}","indexes":{"{pattern}*":{"filter":"{facet} = {filter}"}}}
PATCH /chats/{workspace}/settings {"source":"extract","prompts":{"system":"{prompt}"}}
PATCH /chats/{workspace}/settings {"source":"openAi","apiKey":"{key}","baseUrl":"http://{exporthost}.example"}
PATCH /indexes/{index}/settings/chat {"description":"{prompt}"}
POST /chats/{workspace}/chat/completions {"model":"{model}","stream":true,"messages":[{"role":"user","content":"{message} {word}"}]}
POST /chats/{workspace}/chat/completions {"model":"{model}","stream":true,"messages":[],"tools":[{"type":"function","function":{"name":"{tool}"}}]}
GET /{parameter}/{value}
DELETE /indexes/{other}`

// use makes the requests of the workload with words of w.
func use(h *house.House, w texts) {
	h.T.Helper()
	var places []string
	for _, place := range people {
		places = append(places, "{"+place+"}", w(place))
	}
	fill := strings.NewReplacer(places...)
	for line := range strings.SplitSeq(strings.TrimSpace(workload), "\n") {
		method, rest, _ := strings.Cut(fill.Replace(line), " ")
		path, body, _ := strings.Cut(rest, " ")
		header := http.Header{
			"Authorization": {"Bearer " + w("master")},
			"User-Agent":    {w("agent") + "/1.0 (" + w("browser") + "; " + w("browser") + "@example.com)"}, "X-Own": {w("header")}, "X-Request-Id": {w("requestid")},
			"Cookie": {"session=" + w("client")}, "X-Meilisearch-Client": {"Meilisearch " + w("client") + " (v1.0)"}, "Referer": {"http://" + w("browser") + ".example"},
		}
		if body != "" {
			header.Set("Content-Type", `application/json; note="`+w("header")+`"`)
		}
		r := send(h, method, path, body, header)
		if r.Status >= http.StatusInternalServerError || r.Status == http.StatusForbidden || r.Status == http.StatusUnauthorized {
			h.T.Errorf("%s: status %d %s", line, r.Status, r.Body)
		}
		if r.Status == http.StatusAccepted {
			settleQuietly(h, r)
		}
	}
}

// settleQuietly waits for the task of r without a request.
func settleQuietly(h *house.House, r house.Reply) {
	h.T.Helper()
	var uid uint32
	if _, err := fmt.Sscanf(r.Body, `{"taskUid":%d`, &uid); err != nil {
		h.T.Fatalf("read %s: %v", r.Body, err)
	}
	waittest.For(h.T, fmt.Sprintf("task %d is done", uid), func() bool {
		t, err := h.Hooks.Tasks.Task(context.Background(), uid, func(string) bool { return true })
		if err != nil {
			h.T.Fatal(err)
		}
		return !t.FinishedAt.IsZero()
	})
}

// A witness is a collector that keeps all events that the host tells.
type witness struct {
	mu     sync.Mutex
	events bytes.Buffer
}

func (w *witness) Manifest() *abi.Manifest {
	m := &abi.Manifest{Name: "witness", Version: "1.0.0"}
	for k := event.KindLaunch; k.String() != ""; k++ {
		m.Events = append(m.Events, k.String())
	}
	return m
}
func (w *witness) SHA256() string                     { return "" }
func (w *witness) Outbound() bool                     { return false }
func (w *witness) Start() (telemetry.Instance, error) { return w, nil }
func (w *witness) Flush(bool, []byte) ([]byte, error) { return nil, nil }
func (w *witness) Save([]byte) ([]byte, error)        { return nil, nil }
func (w *witness) Load([]byte) (bool, error)          { return false, nil }
func (w *witness) Worn() bool                         { return false }
func (w *witness) Close()                             {}

func (w *witness) Observe(b []byte, count int) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events.Write(b)
	return count, nil
}

// A platform keeps what is delivered to it.
type platform struct {
	mu     sync.Mutex
	bodies bytes.Buffer
	*httptest.Server
}

func newPlatform(t *testing.T) *platform {
	p := &platform{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		fmt.Fprintln(&p.bodies, r.Header)
		_, _ = p.bodies.ReadFrom(r.Body) // what is cut off is missing
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *platform) got() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bodies.String()
}

// A trace is all that telemetry made of a workload.
type trace struct {
	events, state, batches string
}

const privateUID = "350df683-4e06-4586-b9de-e65c86882793"

// usedBy runs a workload of w's texts, in the first hour of a host, and ends that hour.
func usedBy(t *testing.T, modules [][]byte, w texts, flags map[string]string, environ ...string) (*house.House, *witness, *clock) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), w("dir"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "instance-uid", []byte(privateUID+"\n"))
	all := map[string]string{
		"http-addr": "127.0.0.1:0", "db-path": dir, "plugin-dir": filepath.Join(dir, w("plugins")), "dump-dir": filepath.Join(dir, w("dumps")),
		"master-key": w("master"), "shutdown-grace": house.Grace, "log-level": "trace", "experimental-logs-mode": "json", "experimental-enable-metrics": "true",
	}
	for name, value := range flags {
		all[name] = value
	}
	c := newClock()
	h := house.OpenFrom(t, config.Sources{Flags: all, Environ: environ}, host.Options{
		Embedded: modules, Pace: host.Pace{Now: c.Now, Tick: 10 * time.Millisecond}, Version: "1.2.3",
		Hooks: &testhook.Hooks{Machine: &sysinfo.Machine{Distribution: "debian", Kernel: "6.1.0", RAM: 2 << 20, Disk: 40e9, Cores: 2, Used: func(string) int64 { return 5e6 }}},
	})
	seen := &witness{}
	h.Hooks.AddCollector(t.Context(), seen)
	use(h, w)
	return h, seen, c
}

// TestTwins uses two hosts for the same, in the same way, with not one text in
// common: telemetry cannot tell them apart by a byte.
func TestTwins(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds and compiles plugins, which takes long")
	}
	modules := append(shippedCollectors(t), house.Shipped(t, "extract"))
	run := func(letters string) (tr trace) {
		h, seen, c := usedBy(t, modules, func(place string) string { return word(letters, place) }, nil)
		engine := h.Hooks.Engine()
		engine.Preview() // takes what is in the ring
		seen.mu.Lock()
		tr.events = seen.events.String()
		seen.mu.Unlock()
		state := func() {
			b, err := h.Hooks.Spool.State(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tr.state += string(b)
		}
		c.pass(2 * time.Minute)
		engine.Tick(t.Context())
		state()
		c.pass(time.Hour)
		engine.Tick(t.Context())
		state()
		messages, err := h.Hooks.Spool.Pending(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		// An id has a random part of the spool's, in each host another one.
		tr.batches = regexp.MustCompile(`"messageId":"[^"]*"`).ReplaceAllString(string(telemetry.Body(messages)), `"messageId":""`)
		h.Close()
		return tr
	}
	a, b := run("abcdefgh"), run("rstuvwxy")
	if len(a.events) < 1000 || !strings.Contains(a.batches, privateUID) || !strings.Contains(a.state, "Collectors") && !strings.Contains(a.state, "collectors") {
		t.Fatalf("%d bytes of events, the state %.200s, the batches %.200s: want a workload's", len(a.events), a.state, a.batches)
	}
	for what, pair := range map[string][2]string{"events": {a.events, b.events}, "states of the spool": {a.state, b.state}, "batches": {a.batches, b.batches}} {
		if pair[0] != pair[1] {
			at := 0
			for at < min(len(pair[0]), len(pair[1])) && pair[0][at] == pair[1][at] {
				at++
			}
			from := max(at-64, 0)
			t.Errorf("the %s of two hosts differ at byte %d of %d and %d; from byte %d on:\n%.200q\n%.200q", what, at, len(pair[0]), len(pair[1]), from, pair[0][from:], pair[1][from:])
		}
	}
}

// word is a word of 16 of the letters for a place, another one for each.
func word(letters, place string) string {
	sum := sha256.Sum256([]byte(place))
	for i, b := range sum[:16] {
		sum[i] = letters[b%8]
	}
	return string(sum[:16])
}
