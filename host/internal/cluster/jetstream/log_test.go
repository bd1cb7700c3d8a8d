package jetstream

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-search/parley/host/internal/base/freeport"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/cluster/clustertest"
)

// start starts a server that acknowledges what is on disk. It is ready once a
// client can connect; JetStream may need longer.
func start(t *testing.T, name string, port int, routes ...string) *server.Server {
	t.Helper()
	o := &server.Options{
		ServerName: name, Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 30,
	}
	if port > 0 {
		o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port, NoAdvertise: true}
		o.Cluster.Compression = server.CompressionOpts{Mode: server.CompressionOff}
		for _, r := range routes {
			u, err := url.Parse(r)
			if err != nil {
				t.Fatal(err)
			}
			o.Routes = append(o.Routes, u)
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatalf("server %s is not ready", name)
	}
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

// plainServer starts a server without JetStream, for tests that answer in its place.
func plainServer(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{ServerName: "one", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(waittest.Patience) {
		t.Fatal("the server is not ready")
	}
	return s
}

func open(t *testing.T, name string, servers ...*server.Server) *Log {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.ClientURL())
	}
	l, err := Open(Options{URLs: urls, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func TestLog(t *testing.T) {
	l := open(t, "a", start(t, "one", 0))
	if err := l.Check(t.Context()); !errors.Is(err, ErrNoStream) {
		t.Errorf("check without a stream: %v, want %v", err, ErrNoStream)
	}
	if err := l.Append(t.Context(), [][]byte{[]byte("a")}, 0); err == nil {
		t.Error("append without a stream: no error")
	}
	if list, err := l.Read(t.Context(), 1); err == nil {
		t.Errorf("read without a stream: %d messages, no error", len(list))
	}
	if err := l.Make(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if _, _, err := l.End(t.Context()); err != nil {
		t.Error(err)
	}
	clustertest.TestLog(t, l)
}

// TestPurged: a log that begins later says so, and nothing else looks like it.
func TestPurged(t *testing.T) {
	l := open(t, "a", start(t, "one", 0))
	if err := l.Make(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := l.Append(t.Context(), [][]byte{{byte(i)}}, uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := l.js.Stream(t.Context(), l.stream())
	if err == nil {
		err = s.Purge(t.Context(), jetstream.WithPurgeSequence(3))
	}
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[uint64]uint64{1: 3, 2: 3, 3: 3, 4: 4} {
		if list, err := l.Read(t.Context(), from); err != nil || len(list) == 0 || list[0].Seq != want {
			t.Errorf("read from %d: %v, %v, want the first to be %d", from, list, err, want)
		}
	}
}

// TestOpenRefuses: what cannot be used is told at once.
//
//parley:option cluster-nats-creds
//parley:option cluster-nats-ca
func TestOpenRefuses(t *testing.T) {
	for what, o := range map[string]Options{
		"32 letters":      {Name: strings.Repeat("a", 33)},
		"letters, digits": {Name: "a.b"},
		"hyphens":         {Name: ""},
		"no such file":    {Name: "a", URLs: []string{"nats://127.0.0.1:1"}, CA: "/nonexistent"},
		"invalid URL":     {Name: "a", URLs: []string{"nats://%"}},
		"credentials":     {Name: "a", URLs: []string{"nats://127.0.0.1:1"}, Credentials: "/nonexistent"},
	} {
		l, err := Open(o)
		if err == nil {
			// Credentials are read when a connection is made.
			_, _, err = l.End(t.Context())
			l.Close()
		}
		if err == nil {
			t.Errorf("%s: no error", what)
		} else if what != "credentials" && !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want %q in it", err, what)
		}
	}
}

// TestCheckRefuses: a stream that loses messages on purpose is no log.
func TestCheckRefuses(t *testing.T) {
	s := start(t, "one", 0)
	for want, change := range map[string]func(*jetstream.StreamConfig){
		"max_age":              func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"discard":              func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"allow_direct":         func(c *jetstream.StreamConfig) { c.AllowDirect = false },
		"deny_delete":          func(c *jetstream.StreamConfig) { c.DenyDelete = false },
		"storage":              func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"retention":            func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
		"subjects":             func(c *jetstream.StreamConfig) { c.Subjects = []string{"other"} },
		"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 },
		"max_msg_size":         func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1000 },
		"compression":          func(c *jetstream.StreamConfig) { c.Compression = jetstream.S2Compression },
	} {
		l := open(t, strings.ReplaceAll(want, "_", "-"), s)
		c := l.config(1)
		if change(&c); want == "subjects" {
			c.Subjects = []string{"other.>"}
		}
		if _, err := l.js.CreateStream(t.Context(), c); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if err := l.Check(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A database is one in memory.
type database struct {
	mu   sync.Mutex
	at   cluster.Position
	data map[string]string
}

func (d *database) Position() (cluster.Position, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at, nil
}

func (d *database) Apply(p cluster.Position, ops []cluster.Op) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = p
	for _, o := range ops {
		d.data[string(o.Key)] = string(o.Value)
	}
	return nil
}

// TestThreeNodes: three nodes over three servers. The leader and the server that
// leads the stream end, and nothing that was acknowledged is lost.
func TestThreeNodes(t *testing.T) {
	ports, err := freeport.Find(3)
	if err != nil {
		t.Fatal(err)
	}
	var routes []string
	for _, p := range ports {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", p))
	}
	var servers []*server.Server
	for i, p := range ports {
		servers = append(servers, start(t, fmt.Sprint("s", i), p, routes...))
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	first := open(t, "three", servers...)
	for { // until JetStream has elected somebody
		err := first.Make(ctx, 3)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	// states waits until the log's leader sees so many servers in a state.
	states := func(state string, want int) {
		t.Helper()
		waittest.For(t, fmt.Sprintf("%d servers are %s", want, state), func() bool {
			s, err := first.State(ctx)
			n := 0
			for _, one := range s.Servers {
				if one.State == state {
					n++
				}
			}
			return err == nil && n == want && s.Replicas == 3 && len(s.Servers) == 3 && s.Servers[0].State == "leader"
		})
	}
	states("current", 2)
	type member struct {
		*cluster.Node
		db  *database
		end func()
	}
	var nodes []member
	status := make(chan struct{}, 1) // something happened
	for i := range servers {
		log := open(t, "three", servers...)
		db := &database{data: map[string]string{}}
		n, err := cluster.Open(cluster.Options{
			Begins: true, ID: fmt.Sprint("n", i), Log: log, Database: db, Send: log.Send, End: log.End, Lease: time.Second,
			Event: func(msg string, err error) {
				t.Logf("n%d: %s: %v", i, msg, err)
				select {
				case status <- struct{}{}:
				default:
				}
			},
		})
		if err == nil {
			err = log.Hear(n.Hear)
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.Run(ctx)
		}()
		m := member{n, db, func() { end(); <-done }}
		defer m.end()
		nodes = append(nodes, m)
	}
	leader := func() (member, int) {
		t.Helper()
		for {
			for i, n := range nodes {
				if n.Status().Leading {
					return n, i
				}
			}
			select {
			case <-status:
			case <-ctx.Done():
				t.Fatal("nobody leads")
			}
		}
	}
	acked := map[string]bool{}
	refused := map[string]bool{}
	write := func(key string, size int) error {
		n, _ := leader()
		err := n.Write(ctx, func() ([]cluster.Op, error) {
			return []cluster.Op{{Kind: cluster.OpSet, Key: []byte(key), Value: []byte(strings.Repeat("x", size))}}, nil
		})
		acked[key] = err == nil
		refused[key] = errors.Is(err, cluster.ErrNotLeader) || errors.Is(err, cluster.ErrLost)
		return err
	}
	for i := range 50 {
		size := 10
		if i%10 == 0 {
			size = 1 << 20 // in parts
		}
		if err := write(fmt.Sprint("a", i), size); err != nil {
			t.Fatal(err)
		}
	}
	old, i := leader()
	old.end()
	nodes = append(nodes[:i:i], nodes[i+1:]...)
	for i := range 20 {
		_ = write(fmt.Sprint("b", i), 10) // each is counted as what it is
	}
	info, err := first.info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		if s.Name() == info.Cluster.Leader {
			t.Logf("server %s, the stream's leader, ends", s.Name())
			s.Shutdown()
			s.WaitForShutdown()
		}
	}
	for i := 0; ; i++ {
		// Writes fail until the stream has a leader again.
		if err := write(fmt.Sprint("c", i), 10); err == nil && i >= 20 {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("no write is acknowledged any more")
		}
	}
	states("offline", 1)
	last, _ := leader()
	seq := last.Status().Position.Seq
	for _, n := range nodes {
		if err := n.WaitFor(ctx, seq); err != nil {
			t.Fatalf("%+v: %v", n.Status(), err)
		}
		n.db.mu.Lock()
		for key, ok := range acked {
			if _, is := n.db.data[key]; ok && !is {
				t.Errorf("%s was acknowledged and is gone", key)
			} else if refused[key] && is {
				t.Errorf("%s was refused and is there", key)
			}
		}
		if len(n.db.data["a0"]) != 1<<20 {
			t.Errorf("a value of 1 MiB has %d bytes", len(n.db.data["a0"]))
		}
		n.db.mu.Unlock()
	}
	if a, b := nodes[0].db, nodes[1].db; a.at.Seq == b.at.Seq && a.at != b.at {
		t.Errorf("positions %+v and %+v", a.at, b.at)
	}
}

// TestBodyStalls: a body of which NATS lost the chunks, and says nothing, is an error and no
// wait without end. One that is there is read as it was put.
func TestBodyStalls(t *testing.T) {
	l := open(t, "stalls", start(t, "one", 0))
	waittest.For(t, "the log is made", func() bool { return l.Make(t.Context(), 1) == nil })
	text := strings.Repeat("a body of some chunks ", 20000)
	for _, name := range []string{"whole", "lost"} {
		if err := l.Bodies().PutBody(name, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := l.Bodies().open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.GetInfo(t.Context(), "lost")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := l.js.Stream(t.Context(), "OBJ_"+l.bucket())
	if err == nil {
		err = stream.Purge(t.Context(), jetstream.WithPurgeSubject("$O."+l.bucket()+".C."+info.NUID))
	}
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := l.Bodies().GetBody("whole", &b); err != nil || b.String() != text {
		t.Errorf("the body that is there: %d bytes, %v", b.Len(), err)
	}
	l.readStall = time.Second
	if err := l.Bodies().GetBody("lost", &b); !errors.Is(err, errStalled) {
		t.Errorf("the body without chunks: %v, want %v", err, errStalled)
	}
	list, err := l.Bodies().PutBefore(t.Context(), time.Now().Add(-time.Hour))
	if err != nil || len(list) != 0 {
		t.Errorf("bodies that were put an hour ago: %v, %v", list, err)
	}
	if list, err = l.Bodies().PutBefore(t.Context(), time.Now().Add(time.Hour)); err != nil || len(list) != 2 {
		t.Errorf("all bodies: %v, %v", list, err)
	}
	if _, err := l.get(t.Context(), silentStore{s}, l.bucket(), "whole"); !errors.Is(err, errStalled) {
		t.Errorf("a body about which a server does not answer: %v, want %v", err, errStalled)
	}
}

// A silentStore does not answer.
type silentStore struct{ jetstream.ObjectStore }

func (silentStore) Get(ctx context.Context, _ string, _ ...jetstream.GetObjectOpt) (jetstream.ObjectResult, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestSentAgain: a message that nobody takes, while somebody else listens to its subject, is in
// the log as soon as there is one.
func TestSentAgain(t *testing.T) {
	server := start(t, "one", 0)
	l, listener := open(t, "a", server), open(t, "b", server)
	l.o.Timeout = waittest.Patience
	heard, err := listener.conn.SubscribeSync(l.subject())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- l.Append(ctx, [][]byte{[]byte("a")}, 0) }()
	if _, err := heard.NextMsgWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Make(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatalf("a message that was sent before there was a log: %v", err)
	}
	if list, err := l.Read(ctx, 1); err != nil || len(list) != 1 || string(list[0].Record) != "a" {
		t.Errorf("the log has %v, %v; want the message once", list, err)
	}
}

// TestSentTwice: a message that was sent again while the first is under way is refused. It is in the
// log all the same where the first is acknowledged late, or has the place without an answer.
func TestSentTwice(t *testing.T) {
	server := plainServer(t)
	for _, tt := range []struct{ name, has, fails string }{
		{"acknowledged late", "", ""}, {"without an answer", "mine", ""}, {"another has the place", "another's", "err_code=10071"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, stream := open(t, "a", server), open(t, "b", server)
			l.o.Timeout = waittest.Patience
			var first *nats.Msg
			sent := 0
			_, err := stream.conn.Subscribe(l.subject(), func(m *nats.Msg) {
				switch sent++; {
				case sent == 1:
					first = m
				case sent == 4 && tt.has == "":
					_ = first.Respond(fmt.Appendf(nil, `{"stream":%q,"seq":8}`, l.stream()))
				default:
					_ = m.Respond([]byte(`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence"}}`))
				}
			})
			_, err2 := stream.conn.Subscribe("$JS.API.DIRECT.GET."+l.stream(), func(m *nats.Msg) {
				if tt.has != "" {
					_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Nats-Sequence": {"8"}}, Data: []byte(tt.has)})
				}
				_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Status": {"204"}}})
			})
			if err := errors.Join(err, err2, stream.conn.Flush()); err != nil {
				t.Fatal(err)
			}
			switch err := l.Append(t.Context(), [][]byte{[]byte("mine")}, 7); {
			case tt.fails == "" && err != nil:
				t.Error(err)
			case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)):
				t.Errorf("%v, want %s", err, tt.fails)
			}
		})
	}
}

// TestLeaderless: servers that answer for themselves while nobody leads the stream are not taken
// for its leader: nothing can be written then.
func TestLeaderless(t *testing.T) {
	s := plainServer(t)
	l, other := open(t, "a", s), open(t, "b", s)
	var leads atomic.Bool
	_, err := other.conn.Subscribe("$JS.API.STREAM.INFO."+l.stream(), func(m *nats.Msg) {
		leader := ""
		if leads.Load() {
			leader = "two"
		}
		_ = m.Respond(fmt.Appendf(nil, `{"type":"io.nats.jetstream.api.v1.stream_info_response","config":{"num_replicas":3},`+
			`"state":{"first_seq":1,"last_seq":7},"cluster":{"name":"c","leader":%q,"replicas":[{"name":"two","current":true},{"name":"three","offline":true}]}}`, leader))
	})
	if err == nil {
		err = other.conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.State(t.Context()); err == nil || !strings.Contains(err.Error(), "has no leader") {
		t.Errorf("the state of a stream that nobody leads: %+v, %v", got, err)
	}
	if _, _, err := l.End(t.Context()); err == nil {
		t.Error("the end of a stream that nobody leads: no error")
	}
	leads.Store(true)
	want := []Server{{"two", "leader"}, {"two", "current"}, {"three", "offline"}}
	if got, err := l.State(t.Context()); err != nil || !slices.Equal(got.Servers, want) {
		t.Errorf("the servers of a stream that somebody leads: %+v, %v; want %+v", got.Servers, err, want)
	}
}

// TestVersions: servers that cannot be read from are told apart by their version.
func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"2.11.0": true, "2.12.1-RC.2": true, "2.15.2": true, "v2.11.4": true, "3.0.0": true, "dev": true, "": true,
		"2.10.29": false, "2.9.0": false, "1.4.1": false,
	} {
		if got := reads(version); got != want {
			t.Errorf("reads(%q) = %v, want %v", version, got, want)
		}
	}
}

// TestID: what somebody without the key put in front of all says nothing of which log it is.
func TestID(t *testing.T) {
	l := open(t, "a", start(t, "one", 0))
	l.o.Key = cluster.Key("the key of this cluster")
	if err := l.Make(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	record := func(format byte, log uint64) []byte {
		r := cluster.Record{Format: format, Kind: cluster.KindClaim, Log: log, Term: 1, Data: []byte("{}")}
		return r.Encode(l.o.Key)
	}
	for i, b := range [][]byte{[]byte("hello"), record(1, 7), record(2, 9)} {
		if err := l.Append(t.Context(), [][]byte{b}, uint64(i)); err != nil {
			t.Fatal(err)
		}
		want := []uint64{0, 7, 9}[i] // a log of before has no codes
		if got, err := l.ID(t.Context()); got != want || (err != nil) != (want == 0) {
			t.Errorf("of %d messages: log %d, %v; want %d", i+1, got, err, want)
		}
	}
}
