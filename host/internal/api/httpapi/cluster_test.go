package httpapi_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/task"
)

// A place is a cluster in which this node does not lead.
type place struct {
	leader  string
	refuses bool
	status  httpapi.ClusterStatus
	code    string        // of the cluster; "": its nodes are of a build that has none
	ends    chan struct{} // is closed once the term ends; nil: it does not

	// Where it leads: what it says of a snapshot, and of handing over.
	leads  bool
	kept   httpapi.ClusterSnapshot
	handed httpapi.ClusterHandover
	raised httpapi.ClusterUpgrade
	err    error
}

func (p *place) Leader() (url string, term uint64, here bool) { return p.leader, 3, p.leads }
func (p *place) Position() (log, seq uint64)                  { return 0xabc, 7 }
func (p *place) Refuses() bool                                { return p.refuses }

func (p *place) Status() httpapi.ClusterStatus {
	st := p.status
	st.Name = cmp.Or(st.Name, "town")
	return st
}

func (p *place) Vouch(parts string) string {
	if p.code == "" {
		return ""
	}
	return fmt.Sprintf("%.32s", fmt.Sprintf("%x", sha256.Sum256([]byte(p.code+parts))))
}

func (p *place) Vouched(code, parts string) bool { return p.code != "" && code == p.Vouch(parts) }

func (p *place) TermEnds(ctx context.Context, _ uint64) error {
	select {
	case <-p.ends:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *place) Snapshot(_ context.Context, message uint64) (httpapi.ClusterSnapshot, error) {
	p.kept.Message = message
	return p.kept, p.err
}

func (p *place) Raise(context.Context) (httpapi.ClusterUpgrade, error) { return p.raised, p.err }

func (p *place) HandOver(context.Context) (httpapi.ClusterHandover, error) { return p.handed, p.err }

func (p *place) WaitFor(ctx context.Context, seq uint64, _ bool, _ string) error {
	if seq <= 7 {
		return nil
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	return ended.Err()
}

// TestForwardTLS: a node shows its own certificate to a leader that lets in nobody without one.
// Where one of the two does not trust the other, or the leader speaks no TLS, nothing was
// changed, and the answer says why.
func TestForwardTLS(t *testing.T) {
	t.Parallel()
	a, other := newAuthority(t, "ours"), newAuthority(t, "others")
	a.issue("server", 2, soon())
	of := func(clients *authority) *httptest.Server {
		leader := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"taskUid":1}`)
		}))
		leader.Config.ErrorLog = log.New(io.Discard, "", 0)
		leader.TLS = &tls.Config{Certificates: []tls.Certificate{a.issue("leader", 3, soon())}, ClientCAs: clients.pool(), ClientAuth: tls.RequireAndVerifyClientCert}
		leader.TLS.MaxVersion = tls.VersionTLS12 // by 1.3 a refusal may come too late to be read
		leader.StartTLS()
		t.Cleanup(leader.Close)
		return leader
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	for _, tt := range []struct {
		name, leader string
		trust        *authority
		want         string // in the answer
	}{
		{"both trust each other", of(a).URL, a, `{"taskUid":1}`},
		{"the leader is of another authority", of(a).URL, other, "does not trust the leader's certificate"},
		{"the node is of another authority", of(other).URL, a, "refuses this node's certificate"},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), a, "does not speak TLS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := transport.OpenTLS(transport.TLSFiles{Cert: a.file("server.pem"), Key: a.file("server.key")}, nil)
			check(t, err)
			r := newRig(t, wish{tls: c, cluster: &place{leader: tt.leader}})
			r.url = strings.Replace(r.url, "http:", "https:", 1)
			r.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.pool(), ServerName: "parley.test"}, DisableKeepAlives: true}
			httpapi.TrustLeader(r.server, "parley.test", tt.trust.pool())
			got := r.do("POST", "/indexes/a/documents", `[{"id":1}]`)
			if refused := got.status == http.StatusServiceUnavailable && strings.Contains(got.body, "cluster_no_leader") && strings.Contains(got.body, "nothing was changed"); !strings.Contains(got.body, tt.want) || refused == (got.status == http.StatusAccepted) {
				t.Errorf("%d %s, want %q", got.status, got.body, tt.want)
			}
		})
	}
}

// TestForward sends a write on to the leader as its caller sent it, once, and hands
// back what it answers.
func TestForward(t *testing.T) {
	t.Parallel()
	const summary = `{"taskUid":1,"indexUid":"a","status":"enqueued","type":"documentAdditionOrUpdate","enqueuedAt":"2026-11-23T00:00:00Z"}`
	var asked atomic.Int64
	var got atomic.Value
	leader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked.Add(1)
		body, _ := io.ReadAll(req.Body)
		w.Header().Set("X-Parley-Seq", "0000000000000abc-7")
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusAccepted)
		got.Store(strings.Join([]string{req.Method, req.URL.String(), req.Header.Get("Authorization"), req.Header.Get("X-Parley-Hop"), req.Header.Get("X-Request-Id"), string(body)}, " "))
		fmt.Fprint(w, summary)
	}))
	defer leader.Close()
	r := newRig(t, wish{cluster: &place{leader: leader.URL}})
	large := `[{"id":1,"title":"` + strings.Repeat("x", 1<<20) + `"}]`
	for _, body := range []string{`[{"id":1}]`, large} {
		a := r.do("POST", "/indexes/a/documents?primaryKey=id", body, "X-Request-Id", "one")
		want := fmt.Sprintf("POST /indexes/a/documents?primaryKey=id Bearer %s 1 one %s", master, body)
		if a.status != http.StatusAccepted || a.body != summary || got.Load() != want {
			t.Errorf("forwarded: %d %.300s as %.200s, want 202 and %.200s", a.status, a.body, got.Load(), want)
		}
		if ids := a.header["X-Request-Id"]; len(ids) != 1 || a.header.Get("X-Parley-Seq") != "0000000000000abc-7" {
			t.Errorf("headers of a forwarded answer: %v", a.header)
		}
	}
	if n := asked.Load(); n != 2 || r.server.Forwarded() != 2 {
		t.Errorf("the leader was asked %d times, %d are counted, want 2", n, r.server.Forwarded())
	}
	// Who may not do it is told here, and reads are answered here.
	weak := r.key([]string{"search"}, []string{"*"})
	if a := r.do("DELETE", "/indexes/a", "", "Authorization", "Bearer "+weak); a.status != http.StatusForbidden {
		t.Errorf("a write without the right: %d %s", a.status, a.body)
	}
	if a := r.do("GET", "/tasks", ""); a.status != http.StatusOK || a.header.Get("X-Parley-Seq") != "0000000000000abc-7" {
		t.Errorf("a read: %d, headers %v", a.status, a.header)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the leader was asked %d times, want 2", n)
	}
}

// TestForwardVouches: a node sends no key of a client on, and a leader takes what another node
// vouches for in its term, as of the client that this one knows.
func TestForwardVouches(t *testing.T) {
	t.Parallel()
	var headers http.Header
	var framed []byte
	leader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		headers = req.Header.Clone()
		framed, _ = io.ReadAll(req.Body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"message":"x","code":"cluster_no_leader","type":"system","link":"x"}`)
	}))
	defer leader.Close()
	follower := newRig(t, wish{cluster: &place{leader: leader.URL, code: "secret"}})
	leads := newRig(t, wish{cluster: &place{leads: true, code: "secret"}})
	stranger := newRig(t, wish{cluster: &place{leads: true, code: "another"}})
	adds := leads.key([]string{"documents.add"}, []string{"a"})
	for what, key := range map[string]string{"the master key": master, "an API key": follower.key([]string{"*"}, []string{"*"})} {
		follower.do("POST", "/indexes/a/documents", `[{"id":1}]`, "Authorization", "Bearer "+key)
		if got := fmt.Sprint(headers); strings.Contains(got, key) || headers.Get("X-Parley-Hop") == "" {
			t.Errorf("with %s the leader is sent %s", what, got)
		}
	}
	sent := func() (hop, body string) { // a write that the follower sends on
		follower.do("POST", "/indexes/a/documents", `[{"id":1}]`)
		return headers.Get("X-Parley-Hop"), string(framed)
	}
	for what, tt := range map[string]struct {
		to           *rig
		method, path string
		hop, body    func(string) string // what becomes of them on the way; nil: nothing
		status       int
		code         string
	}{
		"what was sent on":     {leads, "POST", "/indexes/a/documents", nil, nil, 202, ""},
		"another index":        {leads, "POST", "/indexes/b/documents", nil, nil, 403, "invalid_api_key"},
		"another method":       {leads, "DELETE", "/indexes/a/documents", nil, nil, 403, "invalid_api_key"},
		"another cluster":      {stranger, "POST", "/indexes/a/documents", nil, nil, 403, "invalid_api_key"},
		"another term":         {leads, "POST", "/indexes/a/documents", with(1, "2"), nil, 503, "cluster_no_leader"},
		"an old one":           {leads, "POST", "/indexes/a/documents", with(0, "1000"), nil, 403, "invalid_api_key"},
		"a key that is gone":   {leads, "POST", "/indexes/a/documents", with(2, "4711"), nil, 403, "invalid_api_key"},
		"a code that is wrong": {leads, "POST", "/indexes/a/documents", func(hop string) string { return hop + "0" }, nil, 403, "invalid_api_key"},
		"none, and no key":     {leads, "POST", "/indexes/a/documents", func(string) string { return "1" }, nil, 401, "missing_authorization_header"},
		"another body":         {leads, "POST", "/indexes/a/documents", nil, func(b string) string { return strings.Replace(b, `"id":1`, `"id":2`, 1) }, 403, "invalid_api_key"},
		"part of the body":     {leads, "POST", "/indexes/a/documents", nil, func(b string) string { return b[:len(b)-36] }, 403, "invalid_api_key"},
		"a body twice":         {leads, "POST", "/indexes/a/documents", nil, func(b string) string { return b[:len(b)-36] + b }, 403, "invalid_api_key"},
		"a body in no frames":  {leads, "POST", "/indexes/a/documents", nil, func(string) string { return `[{"id":1}]` }, 403, "invalid_api_key"},
		"without the body":     {leads, "POST", "/indexes/a/documents", nil, func(string) string { return "" }, 403, "invalid_api_key"},
	} {
		hop, body := sent()
		if tt.hop != nil {
			hop = tt.hop(hop)
		}
		if tt.body != nil {
			body = tt.body(body)
		}
		a := tt.to.do(tt.method, tt.path, body, "X-Parley-Hop", hop, "Authorization", "")
		if a.status != tt.status || tt.code != "" && !strings.Contains(a.body, tt.code) {
			t.Errorf("%s: %d %s, want %d %s", what, a.status, a.body, tt.status, tt.code)
		}
	}
	hop, body := sent()
	for i, want := range []int{202, 403} {
		if a := leads.do("POST", "/indexes/a/documents", body, "X-Parley-Hop", hop, "Authorization", ""); a.status != want {
			t.Errorf("time %d that it is sent: %d %s, want %d", i+1, a.status, a.body, want)
		}
	}
	page, _ := leads.keys.Keys(0, 100)
	for i := range page {
		if leads.keys.Value(&page[i]) != adds {
			continue
		}
		hop, _ = sent()
		narrow := with(2, page[i].UID)(hop)
		body = frames(narrow, `[{"id":1}]`)
		if a := leads.do("POST", "/indexes/a/documents", body, "X-Parley-Hop", narrow, "Authorization", ""); a.status != 202 {
			t.Errorf("of a key that may: %d %s", a.status, a.body)
		}
	}
}

// with returns what makes a voucher one with another field, as the cluster with the code would
// write it.
func with(field int, value string) func(hop string) string {
	return func(hop string) string {
		fields := strings.Split(hop, " ")
		fields[field] = value
		key := fields[2]
		if key == "*" {
			key = ""
		}
		parts := strings.Join([]string{fields[0], fields[1], key, fields[3], "POST", "/indexes/a/documents", "application/json", ""}, "\n")
		fields[4] = (&place{code: "secret"}).Vouch(parts)
		return strings.Join(fields, " ")
	}
}

// frames returns a body as the cluster with the code would send it with a voucher.
func frames(hop, body string) string {
	fields := strings.Split(hop, " ")
	var b strings.Builder
	for n, data := range []string{body, ""} {
		code := (&place{code: "secret"}).Vouch(fmt.Sprintf("frame\n%s\n%d\n%x", fields[4], n, sha256.Sum256([]byte(data))))
		b.WriteString("\x00\x00\x00" + string(rune(len(data))) + code + data)
	}
	return b.String()
}

// TestForwardHangs: a leader that hangs is not waited for once the next term has begun. What
// became of the write is then told by the log.
func TestForwardHangs(t *testing.T) {
	t.Parallel()
	var follower *rig
	ends, over := make(chan struct{}), make(chan struct{})
	leader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.ReadAll(req.Body)
		if req.URL.Path == "/indexes/written/documents" { // it was in the log before the leader hung
			origin := strings.Split(req.Header.Get("X-Parley-Hop"), " ")[3]
			if _, err := follower.queue.Enqueue(req.Context(), task.New{Type: task.DocumentAddition, IndexUID: "written", Origin: origin}); err != nil {
				t.Error(err)
			}
		}
		<-over
	}))
	defer leader.Close()
	defer close(over)
	follower = newRig(t, wish{cluster: &place{leader: leader.URL, code: "secret", ends: ends}})
	close(ends)
	for path, want := range map[string]struct {
		status int
		body   string
	}{
		"/indexes/written/documents": {202, `"taskUid":0,"indexUid":"written"`},
		"/indexes/lost/documents":    {503, "cluster_no_leader"},
		"/keys":                      {503, "cluster_unknown"},
	} {
		if a := follower.do("POST", path, `[{"id":1}]`); a.status != want.status || !strings.Contains(a.body, want.body) {
			t.Errorf("%s: %d %s, want %d %s", path, a.status, a.body, want.status, want.body)
		}
	}
}

// TestClusterRefuses: each reason for which a node of a cluster does not answer.
func TestClusterRefuses(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.Close()
		}
	}))
	defer silent.Close()
	const index = `{"uid":"a"}`
	const ahead = "0000000000000abc-8"
	for name, tt := range map[string]struct {
		place  place
		method string
		path   string
		body   string
		header []string
		status int
		code   string
	}{
		"nobody leads":           {place{}, "POST", "/indexes", index, nil, 503, "cluster_no_leader"},
		"a second hop":           {place{leader: silent.URL}, "POST", "/indexes", index, []string{"X-Parley-Hop", "1"}, 503, "cluster_no_leader"},
		"a leader that is gone":  {place{leader: "http://127.0.0.1:1"}, "POST", "/indexes", index, nil, 503, "cluster_no_leader"},
		"a leader that hangs up": {place{leader: silent.URL}, "POST", "/indexes", index, nil, 503, "cluster_unknown"},
		"what is not there yet":  {place{}, "GET", "/tasks", "", []string{"X-Parley-Seq", ahead}, 503, "cluster_behind"},
		"what is no message":     {place{}, "GET", "/tasks", "", []string{"X-Parley-Seq", "8"}, 400, "invalid_cluster_seq"},
		"another log":            {place{}, "GET", "/tasks", "", []string{"X-Parley-Seq", "0000000000000abd-1"}, 400, "invalid_cluster_seq"},
		"cut off":                {place{refuses: true}, "GET", "/tasks", "", nil, 503, "cluster_stale"},
		"cut off, not ready":     {place{refuses: true}, "GET", "/ready", "", nil, 503, "cluster_stale"},
		"halted":                 {place{status: httpapi.ClusterStatus{Halted: "why"}}, "GET", "/ready", "", nil, 503, "cluster_halted"},
		"halted, to be healed":   {place{status: httpapi.ClusterStatus{Halted: "why", MayHeal: true}}, "GET", "/health", "", nil, 503, "cluster_halted"},
		"empty":                  {place{status: httpapi.ClusterStatus{Empty: true}}, "GET", "/ready", "", nil, 503, "cluster_behind"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, wish{cluster: &tt.place})
			a := r.do(tt.method, tt.path, tt.body, tt.header...)
			if a.status != tt.status {
				t.Errorf("%s %s = %d, want %d: %s", tt.method, tt.path, a.status, tt.status, a.body)
			}
			checkError(t, a, tt.code)
			if again := a.header.Get("Retry-After"); tt.code == "cluster_no_leader" && again != "1" || tt.code == "cluster_unknown" && again != "" {
				t.Errorf("%s: Retry-After %q", tt.code, again)
			}
			if a := r.do("GET", "/health", ""); (a.status == http.StatusOK) == tt.place.status.MayHeal {
				t.Errorf("GET /health = %d", a.status)
			}
			if a := r.do("GET", "/cluster", ""); a.status != http.StatusOK || !strings.Contains(a.body, `"enabled":true`) {
				t.Errorf("GET /cluster = %d %s", a.status, a.body)
			}
		})
	}
}

// TestClusterShown: what GET /cluster says.
func TestClusterShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{cluster: &place{status: httpapi.ClusterStatus{
		Name: "town", Log: "abc", Leader: "b", Words: 6, Ahead: 8, Format: 1, Trouble: "no answer", Halted: "why", Node: httpapi.ClusterNode{ID: "a", URL: "http://a", Version: "1", Role: "halted", Format: 1, Term: 2, Seq: 7},
		Nodes: []httpapi.ClusterNode{{ID: "b", Role: "leader", Seen: time.Unix(1, 0)}},
		NATS:  &httpapi.ClusterNATS{Server: "n1", Quorum: true, Replicas: 3, Servers: []httpapi.NATSServer{{Name: "n1", State: "leader"}}, LogBytes: 4, LogMessages: 2, SnapshotSeq: 5, SnapshotAt: new(time.Unix(1, 0).UTC())},
	}}})
	const want = `{"enabled":true,"name":"town","log":"abc","leader":"b","node":{"id":"a","url":"http://a","version":"1","role":"halted","format":1,"term":2,"seq":7},` +
		`"nodes":[{"id":"b","url":"","version":"","role":"leader","format":0,"term":0,"seq":0,"seenAt":"1970-01-01T00:00:01Z"}],"words":6,"ahead":8,"stale":false,"format":1,"trouble":"no answer","halted":"why",` +
		`"nats":{"server":"n1","quorum":true,"replicas":3,"servers":[{"name":"n1","state":"leader"}],"logBytes":4,"logMessages":2,"snapshotSeq":5,"snapshotAt":"1970-01-01T00:00:01Z","backupAt":null}}`
	if a := r.do("GET", "/cluster", ""); strings.TrimSpace(a.body) != want {
		t.Errorf("GET /cluster = %s, want %s", a.body, want)
	}
}

// TestClusterLeads: what the leader is told to do, and why it does not.
func TestClusterLeads(t *testing.T) {
	t.Parallel()
	b := "b"
	for name, tt := range map[string]struct {
		place  *place
		path   string
		status int
		code   string
		says   string
	}{
		"a snapshot":              {&place{leads: true, kept: httpapi.ClusterSnapshot{Kept: 9, Bytes: 3, Done: true}}, "snapshot", 200, "", `{"message":0,"kept":9,"bytes":3,"done":true}`},
		"a snapshot of a message": {&place{leads: true}, "snapshot?message=4000000000", 200, "", `{"message":4000000000,"kept":0,"bytes":0,"done":false}`},
		"no message":              {&place{leads: true}, "snapshot?message=-1", 400, "bad_request", "number of a message"},
		"a snapshot that fails":   {&place{leads: true, err: errors.New("no room")}, "snapshot", 503, "cluster_snapshot_not_kept", "no room"},
		"hand over":               {&place{leads: true, handed: httpapi.ClusterHandover{From: "a", Leader: &b, Term: 3}}, "resign", 200, "", `{"from":"a","leader":"b","term":3}`},
		"nobody to follow":        {&place{leads: true, err: httpapi.ErrNoFollower}, "resign", 409, "cluster_no_follower", "nothing was changed"},
		"deposed meanwhile":       {&place{leads: true, err: cluster.ErrNotLeader}, "resign", 503, "cluster_no_leader", "nothing was changed"},
		"nobody leads":            {&place{}, "resign", 503, "cluster_no_leader", "nothing was changed"},
		"upgrade":                 {&place{leads: true, raised: httpapi.ClusterUpgrade{From: 1, To: 2}}, "upgrade", 200, "", `{"from":1,"to":2}`},
		"upgrade too early":       {&place{leads: true, err: &cluster.OldNodeError{Peer: cluster.Peer{Beat: cluster.Beat{ID: "c", URL: "http://c", Version: "0.1", Format: 1}}, To: 2}}, "upgrade", 409, "cluster_node_too_old", "node c (http://c, version 0.1) reads records up to format 1, not 2"},
		"deposed while upgraded":  {&place{leads: true, err: cluster.ErrUnknown}, "upgrade", 503, "cluster_unknown", ""},
		"alone, to upgrade":       {nil, "upgrade", 400, "cluster_not_enabled", "--cluster-name"},
		"alone, a snapshot":       {nil, "snapshot", 400, "cluster_not_enabled", "--cluster-name"},
		"alone, to hand over":     {nil, "resign", 400, "cluster_not_enabled", "--cluster-name"},
	} {
		t.Run(name, func(t *testing.T) {
			var w wish
			if tt.place != nil {
				w.cluster = tt.place
			}
			a := newRig(t, w).do("POST", "/cluster/"+tt.path, "")
			if a.status != tt.status || !strings.Contains(a.body, tt.says) {
				t.Errorf("POST /cluster/%s = %d %s, want %d and %q", tt.path, a.status, a.body, tt.status, tt.says)
			}
			if tt.code != "" {
				checkError(t, a, tt.code)
			}
		})
	}
}

// TestBatchesOfLeader: the leader alone knows how far a batch is, so a follower has it
// answer, and answers by itself where the leader does not.
func TestBatchesOfLeader(t *testing.T) {
	t.Parallel()
	const batch = `{"results":[],"total":7,"limit":20,"from":null,"next":null}`
	var asked, hang atomic.Bool
	ended := make(chan struct{})
	leader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked.Store(true)
		if hang.Load() {
			<-ended
			return
		}
		w.Header().Set("X-Parley-Seq", "0000000000000abc-9") // more than this node has
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprint(w, batch)
	}))
	defer leader.Close()
	defer close(ended)
	p := &place{leader: leader.URL}
	r := newRig(t, wish{cluster: p})
	if a := r.do("GET", "/batches?limit=20", ""); a.status != http.StatusOK || a.body != batch || a.header.Get("X-Parley-Seq") != "0000000000000abc-9" {
		t.Errorf("GET /batches of a follower: %d %s %v, want what the leader answers", a.status, a.body, a.header)
	}
	own := func(what string, header ...string) {
		t.Helper()
		if a := r.do("GET", "/batches", "", header...); a.status != http.StatusOK || !strings.Contains(a.body, `"total":0`) || a.header.Get("X-Parley-Seq") != "0000000000000abc-7" {
			t.Errorf("GET /batches of a follower, %s: %d %s, want its own", what, a.status, a.body)
		}
	}
	asked.Store(false)
	if own("asked by another node", "X-Parley-Hop", "1"); asked.Load() {
		t.Error("a request that came from another node is sent on")
	}
	hang.Store(true)
	own("whose leader hangs")
	p.leader = "http://127.0.0.1:1"
	own("whose leader is gone")
	p.leader = ""
	own("without a leader")
}
