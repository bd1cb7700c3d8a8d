package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/telemetry"
	"github.com/parley-search/parley/host/internal/telemetry/outbox"
)

// deliveries is how a platform may take a batch, over a real connection, and
// what comes of it.
var deliveries = []struct {
	name string
	// answer deals with a request whose body was read, unless early is set.
	answer func(p *rawPlatform, w http.ResponseWriter, r *http.Request, body string)
	early  bool
	// hasty ends an attempt once the platform took it, where nothing else would
	// within a minute.
	hasty       bool
	pending     int // messages that wait afterwards, of 5
	quarantined int
	least, most time.Duration // until the next attempt
	stopped     bool
	repeats     bool // the platform took what it is sent again
}{
	{name: "200", answer: status(200, "")},
	{name: "no listener", answer: nil, pending: 5, least: 30 * time.Second, most: 30 * time.Second},
	{name: "no answer", answer: silence, hasty: true, pending: 5, least: 30 * time.Second, most: 30 * time.Second, repeats: true},
	{name: "reset mid-body", answer: reset(""), early: true, pending: 5, least: 30 * time.Second, most: 30 * time.Second},
	{name: "reset before the answer", answer: reset(""), pending: 5, least: 30 * time.Second, most: 30 * time.Second, repeats: true},
	{name: "200, then reset", answer: reset("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab"), pending: 5, least: 30 * time.Second, most: 30 * time.Second, repeats: true},
	{name: "no HTTP", answer: reset("SSH-2.0-x\r\n"), pending: 5, least: 30 * time.Second, most: 30 * time.Second, repeats: true},
	{name: "400 for one message", answer: unless(`"m":2`, 400), quarantined: 1},
	{name: "422 for one message", answer: unless(`"m":1`, 422), quarantined: 1},
	{name: "401", answer: status(401, ""), pending: 5, least: 24 * time.Hour, most: 24 * time.Hour},
	{name: "403", answer: status(403, ""), pending: 5, least: 24 * time.Hour, most: 24 * time.Hour},
	{name: "404", answer: status(404, ""), pending: 5, least: 24 * time.Hour, most: 24 * time.Hour},
	{name: "408", answer: status(408, ""), pending: 5, least: 30 * time.Second, most: 30 * time.Second},
	{name: "410", answer: status(410, ""), pending: 5, stopped: true},
	{name: "413 over two messages", answer: tooLarge},
	{name: "429 with seconds", answer: status(429, "300"), pending: 5, least: 5 * time.Minute, most: 5 * time.Minute},
	{name: "429 with a date", answer: status(429, "Sat, 21 Nov 2026 08:40:00 GMT"), pending: 5, least: 10 * time.Minute, most: 10 * time.Minute},
	{name: "429 with nonsense", answer: status(429, "when it suits"), pending: 5, least: 30 * time.Second, most: 30 * time.Second},
	{name: "500", answer: status(500, ""), pending: 5, least: 30 * time.Second, most: 30 * time.Second},
	{name: "redirect to another host", answer: redirect, pending: 5, least: 24 * time.Hour, most: 24 * time.Hour},
}

func status(code int, retryAfter string) func(*rawPlatform, http.ResponseWriter, *http.Request, string) {
	return func(p *rawPlatform, w http.ResponseWriter, _ *http.Request, body string) {
		if code/100 == 2 {
			p.take(body)
		}
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
	}
}

func silence(p *rawPlatform, _ http.ResponseWriter, r *http.Request, body string) {
	p.take(body)
	p.took <- struct{}{}
	<-r.Context().Done()
}

// reset writes an answer, or a part of one, and has the connection break.
func reset(answer string) func(*rawPlatform, http.ResponseWriter, *http.Request, string) {
	return func(p *rawPlatform, w http.ResponseWriter, _ *http.Request, body string) {
		if body != "" {
			p.take(body)
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

// unless refuses what has part in it.
func unless(part string, code int) func(*rawPlatform, http.ResponseWriter, *http.Request, string) {
	return func(p *rawPlatform, w http.ResponseWriter, _ *http.Request, body string) {
		if strings.Contains(body, part) {
			w.WriteHeader(code)
			return
		}
		p.take(body)
	}
}

func tooLarge(p *rawPlatform, w http.ResponseWriter, _ *http.Request, body string) {
	if strings.Count(body, `"m":`) > 2 {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	p.take(body)
}

func redirect(p *rawPlatform, w http.ResponseWriter, r *http.Request, _ string) {
	http.Redirect(w, r, p.other.url, http.StatusTemporaryRedirect)
}

// A rawPlatform is a platform in one of its moods, until it is mended.
type rawPlatform struct {
	url   string
	other *taker // where it sends those whom it does not want

	mu     sync.Mutex
	answer func(*rawPlatform, http.ResponseWriter, *http.Request, string)
	early  bool
	taken  []string      // messages, in the order in which they came
	took   chan struct{} // told of what is taken in silence
}

func (p *rawPlatform) take(body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body = strings.TrimSuffix(strings.TrimPrefix(body, `{"batch":[`), `]}`)
	p.taken = append(p.taken, strings.SplitAfter(body, "},")...)
}

func (p *rawPlatform) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer, p.early = status(200, ""), false
}

func (p *rawPlatform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	answer, early := p.answer, p.early
	p.mu.Unlock()
	body := ""
	if !early {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		body = string(b)
	}
	answer(p, w, r, body)
}

// A hasty sender gives up as soon as the platform took what it sent.
type hasty struct {
	telemetry.Sender
	took <-chan struct{}
}

func (h hasty) Send(ctx context.Context, body []byte) (telemetry.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-h.took:
		case <-ctx.Done():
		}
	}()
	return h.Sender.Send(ctx, body)
}

// TestTelemetryDelivery has courier, sender and spool, all real, deliver to a
// platform that goes wrong, and then does not any more: what is not refused
// arrives, and what comes twice is what came before, byte for byte.
func TestTelemetryDelivery(t *testing.T) {
	t.Parallel()
	for _, tt := range deliveries {
		t.Run(tt.name, func(t *testing.T) {
			p := &rawPlatform{other: newTaker(t), answer: tt.answer, early: tt.early, took: make(chan struct{}, 1)}
			srv := httptest.NewUnstartedServer(p)
			p.url = "http://" + srv.Listener.Addr().String()
			if tt.answer == nil {
				_ = srv.Listener.Close()
			} else {
				srv.Start()
				t.Cleanup(srv.Close)
			}
			clock := &handClock{}
			spool, err := outbox.Open(filepath.Join(t.TempDir(), "telemetry"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = spool.Close() })
			sender, err := upstream.NewTelemetrySender(p.url+"/v1/batch", secret.New("write-key"), upstream.Options{Private: upstream.AnyPrivate()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = sender.Close() })
			pace := clock.pace()
			var five []telemetry.Message
			for i := range 5 {
				// Large enough that none of it fits a socket's buffers whole.
				five = append(five, telemetry.Message{
					ID: fmt.Sprint("id", i), Collector: "a", Version: "1.0.0", Window: 1, Outbound: true, Body: fmt.Appendf(nil, `{"m":%d,"x":%q}`, i, strings.Repeat("x", 31_000)),
				})
			}
			if err := spool.Keep(t.Context(), nil, five, pace.Now()); err != nil {
				t.Fatal(err)
			}
			through := func(s telemetry.Sender) *telemetry.Courier {
				return telemetry.NewCourier(spool, s, telemetry.CourierOptions{To: p.url, Now: pace.Now})
			}
			c := through(sender)
			if tt.hasty {
				c = through(hasty{sender, p.took})
			}
			settle(t, c)

			u, err := spool.Usage(t.Context())
			if err != nil || u.Pending != tt.pending || u.Quarantined != tt.quarantined {
				t.Errorf("%d messages wait and %d are in quarantine, %v, want %d and %d", u.Pending, u.Quarantined, err, tt.pending, tt.quarantined)
			}
			s := c.Status()
			if wait := max(s.Next.Sub(pace.Now()), 0); wait < tt.least || wait > tt.most || s.Stopped != tt.stopped {
				t.Errorf("the next attempt is due in %s, stopped %v, want %s to %s and %v", wait, s.Stopped, tt.least, tt.most, tt.stopped)
			}
			noted, err := spool.Deliveries(t.Context())
			if err != nil || int64(len(noted)) != s.Requests || noted[len(noted)-1].Taken != (tt.pending == 0) || strings.Contains(fmt.Sprint(noted), "write-key") {
				t.Errorf("%d attempts were noted of %d, %v: %+v", len(noted), s.Requests, err, noted)
			}
			if got := p.other.took(); len(got) > 0 {
				t.Errorf("another host got %d requests", len(got))
			}
			if tt.answer == nil {
				return // nothing will ever listen there
			}

			p.mend()
			clock.pass(25 * time.Hour)
			if c = through(sender); !tt.stopped { // after 410: not before the next start
				settle(t, c)
			} else if settle(t, c); c.Status().Delivered != 5 {
				t.Error("after a restart the platform that was gone is not asked again")
			}
			p.check(t, five, tt.quarantined, tt.repeats)
		})
	}
}

// settle lets the courier do all that is due.
func settle(t *testing.T, c *telemetry.Courier) {
	t.Helper()
	for range 100 {
		if !c.Step(t.Context()) {
			return
		}
	}
	t.Fatal("the courier never rests")
}

// check wants each message to have arrived as it was sealed, but for as many as
// were refused.
func (p *rawPlatform) check(t *testing.T, sealed []telemetry.Message, refused int, repeats bool) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	arrived := 0
	for _, m := range sealed {
		if slices.ContainsFunc(p.taken, func(got string) bool { return strings.TrimSuffix(got, ",") == string(m.Body) }) {
			arrived++
		}
	}
	if arrived != len(sealed)-refused {
		t.Errorf("%d messages arrived as they were sealed, want %d", arrived, len(sealed)-refused)
	}
	for _, got := range p.taken {
		if !slices.ContainsFunc(sealed, func(m telemetry.Message) bool { return strings.TrimSuffix(got, ",") == string(m.Body) }) {
			t.Errorf("a message arrived that was not sealed: %.60s…", got)
		}
	}
	if twice := len(p.taken) > len(sealed); twice != repeats {
		t.Errorf("%d messages came, want repeats: %v", len(p.taken), repeats)
	}
}
