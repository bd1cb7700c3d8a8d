package cli

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A moodyPlatform takes batches, and often fails in one of the ways in which
// one does; also after it took what it was sent.
type moodyPlatform struct {
	t *testing.T

	mu      sync.Mutex
	rng     *rand.Rand
	calm    bool              // it fails no more
	bodies  map[string]string // messages by their id
	batches map[string]string // whole bodies, by the id of their first message
	repeats int
}

func newMoodyPlatform(t *testing.T) (*moodyPlatform, string) {
	t.Helper()
	p := &moodyPlatform{t: t, rng: rand.New(rand.NewPCG(7, 8)), bodies: map[string]string{}, batches: map[string]string{}}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	return p, srv.URL
}

func (p *moodyPlatform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return // the host was killed in the middle of it
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	mood := p.rng.IntN(6)
	if p.calm {
		mood = 5
	}
	switch mood {
	case 0:
		w.WriteHeader(http.StatusInternalServerError)
		return
	case 1:
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	p.take(b)
	if mood > 3 {
		return
	}
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		p.t.Error(err)
		return
	}
	if mood == 3 { // its answer is cut off
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nyes")
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// take keeps a batch and wants what it had before to come again as it was.
func (p *moodyPlatform) take(body []byte) {
	var batch struct{ Batch []json.RawMessage }
	if err := json.Unmarshal(body, &batch); err != nil || len(batch.Batch) == 0 {
		p.t.Errorf("the platform got %q: %v", body, err)
		return
	}
	for i, m := range batch.Batch {
		var one struct{ MessageID string }
		if err := json.Unmarshal(m, &one); err != nil {
			p.t.Error(err)
		}
		had, ok := p.bodies[one.MessageID]
		if ok {
			p.repeats++
		}
		if ok && had != string(m) {
			p.t.Errorf("message %s came as\n%s\nand again as\n%s", one.MessageID, had, m)
		}
		p.bodies[one.MessageID] = string(m)
		if i == 0 {
			p.batches[one.MessageID] = string(body)
		}
	}
}

// TestKillTelemetry kills the program with SIGKILL at random moments while
// windows end every second, against a platform that fails often. Each sealed
// message arrives at least once, and each repeat is what came before, byte for
// byte.
func TestKillTelemetry(t *testing.T) {
	t.Parallel()
	rounds := killRounds(t, 3, 20)
	platform, url := newMoodyPlatform(t)
	p := newPaced(t, "http_request", url)
	rng := rand.New(rand.NewPCG(9, 10))
	for range rounds {
		c := p.start()
		for until := time.Now().Add(time.Duration(rng.IntN(1000)) * time.Millisecond); time.Now().Before(until); {
			c.call("GET", "/version", "")
		}
		c.kill()
	}

	platform.mu.Lock()
	platform.calm = true
	platform.mu.Unlock()
	c := p.start()
	var status struct {
		InstanceUID string
		Engine      struct{ Window uint64 }
		Spool       struct{ Pending, Dropped, Quarantined int }
	}
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		code, body := c.call("GET", "/telemetry", "")
		if err := json.Unmarshal([]byte(body), &status); err != nil || code != http.StatusOK {
			t.Fatalf("GET /telemetry = %d %s: %v", code, body, err)
		}
		if status.Engine.Window > 2 && status.Spool.Pending == 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("after two minutes not all is delivered: %s", body)
		}
	}
	if status.Spool.Dropped+status.Spool.Quarantined > 0 {
		t.Errorf("%d messages were dropped and %d refused, want none", status.Spool.Dropped, status.Spool.Quarantined)
	}
	c.kill()
	sealed := int(status.Engine.Window) - 1
	platform.mu.Lock()
	defer platform.mu.Unlock()
	if len(platform.bodies) != sealed { // a window has a message, and each an id of its own
		t.Errorf("%d messages of %d windows arrived", len(platform.bodies), sealed)
	}
	t.Logf("%d kills, %d windows sealed, %d messages arrived, %d repeats", rounds, sealed, len(platform.bodies), platform.repeats)
}

// TestTelemetryShown prints the window under way by `telemetry show --next
// --raw` until it is delivered: what came is what was printed, byte for byte.
func TestTelemetryShown(t *testing.T) {
	t.Parallel()
	platform, url := newMoodyPlatform(t)
	platform.calm = true
	c := newPaced(t, "search", url).start() // no look at it is a search
	c.call("POST", "/indexes", `{"uid":"films"}`)
	c.call("POST", "/indexes/films/search", `{}`)
	if code, out := parleySays(t, "telemetry", "verify", "--url", c.url); code != exitOK || !strings.Contains(out, "came as they are shown") || strings.Contains(out, "Authorization") {
		t.Errorf("telemetry verify: code %d\n%s", code, out)
	}
	shown := map[string]bool{}
	for until := time.Now().Add(2 * time.Minute); ; {
		code, out := parleySays(t, "telemetry", "show", "--next", "--raw", "--url", c.url)
		if code != exitOK {
			t.Fatalf("telemetry show: code %d\n%s", code, out)
		}
		shown[out] = true
		same := 0
		platform.mu.Lock()
		for _, body := range platform.batches {
			if shown[body] {
				same++
			}
		}
		platform.mu.Unlock()
		if same >= 2 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("nothing that was delivered was shown before:\n%v\nshown:\n%v", platform.batches, shown)
		}
	}
	// Of the windows that were shown, none came otherwise.
	platform.mu.Lock()
	defer platform.mu.Unlock()
	for out := range shown {
		var batch struct{ Batch []json.RawMessage }
		if err := json.Unmarshal([]byte(out), &batch); err != nil {
			t.Fatalf("telemetry show printed %q: %v", out, err)
		}
		for _, m := range batch.Batch {
			var one struct{ MessageID string }
			if err := json.Unmarshal(m, &one); err != nil {
				t.Fatal(err)
			}
			// The one search may have been counted after the first look.
			searched := strings.Replace(string(m), `"counted":0`, `"counted":1`, 1)
			if came, ok := platform.bodies[one.MessageID]; ok && came != string(m) && came != searched {
				t.Errorf("shown:\n%s\ndelivered:\n%s", m, came)
			}
		}
	}
}
