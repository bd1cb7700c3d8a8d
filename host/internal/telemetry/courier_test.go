package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A platform answers requests, and keeps what it took.
type platform struct {
	answer func(body string) (Answer, error)
	bodies []string
}

func (p *platform) Send(_ context.Context, body []byte) (Answer, error) {
	p.bodies = append(p.bodies, string(body))
	return p.answer(string(body))
}

func always(status int, retryAfter string) func(string) (Answer, error) {
	return func(string) (Answer, error) { return Answer{status, retryAfter}, nil }
}

// courierRig is a courier with n messages, a clock and no chance in it.
func courierRig(n int, answer func(string) (Answer, error)) (*Courier, *platform, *memorySpool, *time.Time) {
	spool := newSpool()
	for i := range n {
		spool.messages = append(spool.messages, Message{ID: fmt.Sprint("id", i), Collector: "a", Body: fmt.Appendf(nil, `{"m":%d}`, i)})
	}
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	p := &platform{answer: answer}
	c := NewCourier(spool, p, CourierOptions{To: "https://platform.example/v1/batch", Now: func() time.Time { return now }})
	c.jitter = func(most time.Duration) time.Duration { return most } // the longest wait
	return c, p, spool, &now
}

func drive(t *testing.T, c *Courier) {
	t.Helper()
	for range 1000 {
		if !c.Step(t.Context()) {
			return
		}
	}
	t.Fatal("the courier never rests")
}

func TestCourierOutcomes(t *testing.T) {
	refuse := func(part string, status int) func(string) (Answer, error) {
		return func(body string) (Answer, error) {
			if strings.Contains(body, part) {
				return Answer{Status: status}, nil
			}
			return Answer{Status: 200}, nil
		}
	}
	many := func(most, status int) func(string) (Answer, error) {
		return func(body string) (Answer, error) {
			if strings.Count(body, `"m"`) > most {
				return Answer{Status: status}, nil
			}
			return Answer{Status: 202}, nil
		}
	}
	date := time.Date(2026, 11, 21, 8, 10, 0, 0, time.UTC).Format("Mon, 02 Jan 2006 15:04:05 GMT")
	tests := []struct {
		name     string
		answer   func(string) (Answer, error)
		left     int // messages pending
		held     int
		requests int
		wait     time.Duration // until the next one; 0: none
		stopped  bool
	}{
		{"200", always(200, ""), 0, 0, 1, 0, false},
		{"204", always(204, ""), 0, 0, 1, 0, false},
		{"no listener", func(string) (Answer, error) { return Answer{}, errors.New("connection refused") }, 5, 0, 1, 30 * time.Second, false},
		{"408", always(408, ""), 5, 0, 1, 30 * time.Second, false},
		{"429 with seconds", always(429, "120"), 5, 0, 1, 2 * time.Minute, false},
		{"429 with a date", always(429, date), 5, 0, 1, 10 * time.Minute, false},
		{"429 with nonsense", always(429, "soon"), 5, 0, 1, 30 * time.Second, false},
		{"429 with less than the least", always(429, "1"), 5, 0, 1, 30 * time.Second, false},
		{"429 with a year", always(429, "31536000"), 5, 0, 1, 24 * time.Hour, false},
		{"500", always(500, ""), 5, 0, 1, 30 * time.Second, false},
		{"503 with seconds", always(503, "60"), 5, 0, 1, time.Minute, false},
		{"400 for one message", refuse(`{"m":2}`, 400), 0, 1, 6, 0, false},
		{"422 for the first", refuse(`{"m":0}`, 422), 0, 1, 6, 0, false},
		{"400 for all", always(400, ""), 0, 5, 6, 0, false},
		{"413 over two", many(2, 413), 0, 0, 5, 0, false},
		{"413 for all", always(413, ""), 0, 5, 7, 0, false},
		{"401", always(401, ""), 5, 0, 1, 24 * time.Hour, false},
		{"403", always(403, ""), 5, 0, 1, 24 * time.Hour, false},
		{"404", always(404, ""), 5, 0, 1, 24 * time.Hour, false},
		{"a redirect", always(302, ""), 5, 0, 1, 24 * time.Hour, false},
		{"410", always(410, ""), 5, 0, 1, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, p, spool, now := courierRig(5, tt.answer)
			drive(t, c)
			s := c.Status()
			if got := len(spool.messages) - len(spool.held); got != tt.left || len(spool.held) != tt.held {
				t.Errorf("%d messages are pending and %d in quarantine, want %d and %d", got, len(spool.held), tt.left, tt.held)
			}
			wait := time.Duration(0)
			if !s.Next.IsZero() {
				wait = s.Next.Sub(*now)
			}
			if wait != tt.wait || s.Stopped != tt.stopped {
				t.Errorf("the next request is due in %s, stopped %v, want %s and %v", wait, s.Stopped, tt.wait, tt.stopped)
			}
			if tt.name != "413 for all" && len(p.bodies) != tt.requests {
				t.Errorf("%d requests were made, want %d: %q", len(p.bodies), tt.requests, p.bodies)
			}
			if c.Step(t.Context()); tt.wait > 0 && len(p.bodies) != tt.requests {
				t.Error("a request was made before it was due")
			}
		})
	}
}

// TestCourierWaits fails for ever, and then not any more.
func TestCourierWaits(t *testing.T) {
	c, p, spool, now := courierRig(3, always(500, ""))
	var waits []time.Duration
	for range 10 {
		drive(t, c)
		waits = append(waits, c.Status().Next.Sub(*now))
		*now = c.Status().Next
	}
	for i, w := range waits {
		if want := min(30*time.Second<<i, time.Hour); w != want {
			t.Errorf("wait %d is %s, want %s", i, w, want)
		}
	}
	p.answer = always(200, "")
	drive(t, c)
	if len(spool.messages) != 0 || p.bodies[0] != p.bodies[len(p.bodies)-1] {
		t.Errorf("%d messages are left; the last request was %s, want the bytes of the first", len(spool.messages), p.bodies[len(p.bodies)-1])
	}
}

// TestCourierLostAnswer: the platform took it, and its answer was lost. The
// repeat has the same bytes.
func TestCourierLostAnswer(t *testing.T) {
	lost := true
	c, p, spool, now := courierRig(2, func(string) (Answer, error) {
		if lost {
			lost = false
			return Answer{}, errors.New("connection reset by peer")
		}
		return Answer{Status: 200}, nil
	})
	drive(t, c)
	*now = c.Status().Next
	drive(t, c)
	if len(p.bodies) != 2 || p.bodies[0] != p.bodies[1] || len(spool.messages) != 0 {
		t.Errorf("requests %q with %d messages left, want the same one twice and none", p.bodies, len(spool.messages))
	}
}

// TestCourierNotes writes down each request with what came of it.
func TestCourierNotes(t *testing.T) {
	c, p, spool, now := courierRig(2, always(503, ""))
	drive(t, c)
	*now = c.Status().Next
	p.answer = always(200, "")
	drive(t, c)
	if len(spool.noted) != 2 {
		t.Fatalf("%d deliveries were noted, want 2", len(spool.noted))
	}
	first, second := spool.noted[0], spool.noted[1]
	if first.Taken || first.Outcome != "HTTP 503 Service Unavailable" || !second.Taken || second.Outcome != "HTTP 200 OK" {
		t.Errorf("noted %q, taken %v, then %q, taken %v, want 503 and 200", first.Outcome, first.Taken, second.Outcome, second.Taken)
	}
	if second.To != "https://platform.example/v1/batch" || !second.At.Equal(*now) || second.Bytes != len(p.bodies[1]) || len(second.Messages) != 2 || second.Messages[1].ID != "id1" {
		t.Errorf("noted %+v, want where, when, how much and what", second)
	}
}

// TestCourierClock: a clock that is set back holds nothing up for longer than a
// platform may ask for.
func TestCourierClock(t *testing.T) {
	c, p, spool, now := courierRig(1, always(500, ""))
	drive(t, c)
	p.answer = always(200, "")
	*now = now.Add(-time.Hour)
	if drive(t, c); len(p.bodies) != 1 {
		t.Error("a request was made an hour before it was due")
	}
	*now = now.Add(-365 * 24 * time.Hour)
	if drive(t, c); len(spool.messages) != 0 {
		t.Error("after the clock was set back a year nothing is delivered for a year")
	}
}

// TestCourierHurry has a request made at once that waits for a day, since the platform
// refused the write key.
func TestCourierHurry(t *testing.T) {
	c, p, spool, _ := courierRig(1, always(401, ""))
	drive(t, c)
	p.answer = always(200, "")
	if drive(t, c); len(p.bodies) != 1 {
		t.Errorf("%d requests, want none in the day after a 401", len(p.bodies))
	}
	if !c.Hurry() {
		t.Error("Hurry says that nothing waited")
	}
	if drive(t, c); len(p.bodies) != 2 || len(spool.messages) != 0 {
		t.Errorf("%d requests with %d messages left, want the second at once", len(p.bodies), len(spool.messages))
	}
	if c.Hurry() {
		t.Error("Hurry says that something waited")
	}
}

func TestFitting(t *testing.T) {
	big := make([]byte, 200_000)
	messages := []Message{{Body: big}, {Body: big}, {Body: big}}
	if got := fitting(messages); got != 2 {
		t.Errorf("fitting = %d messages of 200,000 bytes, want 2", got)
	}
	if got := fitting([]Message{{Body: make([]byte, 2*MaxBody)}}); got != 1 {
		t.Errorf("fitting = %d, want one, however large", got)
	}
}
