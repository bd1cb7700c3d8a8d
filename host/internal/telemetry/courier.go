package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Sender makes one attempt to deliver. It follows no redirects.
type Sender interface {
	Send(ctx context.Context, body []byte) (Answer, error)
}

// An Answer is what a platform says to a request.
type Answer struct {
	Status     int
	RetryAfter string // the header of that name
}

// Times of the [Courier].
const (
	retryLeast = 30 * time.Second
	retryMost  = time.Hour
	pauseDay   = 24 * time.Hour
	keepBad    = 7 * 24 * time.Hour
	// retryAfterMost bounds what a platform may ask for.
	retryAfterMost = 24 * time.Hour
)

// A Courier delivers the messages of a spool, oldest first, one request at a
// time. A message leaves the spool when the platform has taken it, so it
// arrives at least once, and by its id a repeat is recognised. One that the
// platform refuses never keeps back those behind it.
type Courier struct {
	spool   Spool
	sender  Sender
	options CourierOptions
	jitter  func(most time.Duration) time.Duration

	mu     sync.Mutex
	next   time.Time // before which nothing is sent
	tries  int       // in a row that failed
	size   int       // messages of one request; 0: as many as fit
	single int       // messages that are sent one by one, since a request with them was refused
	status CourierStatus
}

// CourierStatus says how delivery goes.
type CourierStatus struct {
	Delivered int64     `json:"delivered"` // messages, since the start
	Refused   int64     `json:"refused"`   // messages
	Requests  int64     `json:"requests"`
	Last      string    `json:"last"`    // what came of the last one
	Success   time.Time `json:"-"`       // of the last one that was taken; zero: none yet
	Next      time.Time `json:"next"`    // when the next may be made
	Stopped   bool      `json:"stopped"` // until restart: the platform is gone
}

// CourierOptions says how a [Courier] works.
type CourierOptions struct {
	To string // where the sender sends; for the log of deliveries
	// Log is told what an operator should know; it may be nil.
	Log  func(message string, err error)
	Now  func() time.Time
	Tick time.Duration // between two looks at what is due; default 5s
}

// NewCourier returns a courier.
func NewCourier(spool Spool, sender Sender, o CourierOptions) *Courier {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(string, error) {}
	}
	o.Tick = cmp.Or(o.Tick, 5*time.Second)
	return &Courier{spool: spool, sender: sender, options: o, jitter: func(most time.Duration) time.Duration { return rand.N(most) }}
}

// Run delivers until ctx ends.
func (c *Courier) Run(ctx context.Context) {
	ticker := time.NewTicker(c.options.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for c.Step(ctx) && ctx.Err() == nil {
			}
		}
	}
}

// Hurry has the next request made at once, whatever c waits for: an operator has mended what was
// in its way. It reports whether c waited.
func (c *Courier) Hurry() (waited bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waited = !c.due()
	c.next, c.tries = time.Time{}, 0
	return waited
}

// Status returns how delivery goes.
func (c *Courier) Status() CourierStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	s.Next = c.next
	return s
}

// Step makes one request, where one is due; more reports whether another one
// may be due at once.
func (c *Courier) Step(ctx context.Context) (more bool) {
	c.mu.Lock()
	ready := !c.status.Stopped && c.due()
	most := cmp.Or(c.size, maxBatch)
	if c.single > 0 {
		most = 1
	}
	c.mu.Unlock()
	if !ready {
		return false
	}
	messages, err := c.spool.Pending(ctx, most)
	if err != nil || len(messages) == 0 {
		return false
	}
	messages = messages[:fitting(messages)]
	body := Body(messages)
	answer, err := c.sender.Send(ctx, body)
	if ctx.Err() != nil {
		return false
	}
	c.note(ctx, messages, len(body), answer, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Requests++
	return c.settle(ctx, messages, answer, err)
}

// due reports whether the time of the next request has come, or is further off
// than anything asks for, since the clock was set back. The lock is held.
func (c *Courier) due() bool {
	wait := c.next.Sub(c.options.Now())
	return wait <= 0 || wait > pauseDay+retryMost
}

// note writes a delivery down. Where that fails the delivery was one all the
// same, and what is wrong with the disk is told by what else is written to it.
func (c *Courier) note(ctx context.Context, messages []Message, bytes int, a Answer, err error) {
	d := Delivery{At: c.options.Now(), To: c.options.To, Outcome: said(a, err), Taken: err == nil && a.Status/100 == 2, Bytes: bytes}
	for _, m := range messages {
		d.Messages = append(d.Messages, Delivered{m.ID, m.Collector, m.Version, m.Window})
	}
	_ = c.spool.Note(ctx, d)
}

// settle does what the answer to a request asks for: its messages are delivered, refused, or
// tried again. more reports whether the next request may follow at once. The lock is held.
func (c *Courier) settle(ctx context.Context, messages []Message, a Answer, err error) (more bool) {
	c.status.Last = fmt.Sprintf("%d messages: %s", len(messages), said(a, err))
	switch {
	case err != nil || a.Status == http.StatusRequestTimeout || a.Status == http.StatusTooManyRequests || a.Status >= 500:
		c.retry(a.RetryAfter)
		return false
	case a.Status >= 200 && a.Status < 300:
		c.tries, c.next, c.status.Success = 0, time.Time{}, c.options.Now()
		c.single = max(c.single-1, 0)
		c.size = min(2*c.size, maxBatch) // 0 stays 0
		return c.delivered(ctx, messages)
	case a.Status == http.StatusBadRequest || a.Status == http.StatusUnprocessableEntity || a.Status == http.StatusRequestEntityTooLarge && len(messages) == 1:
		return c.refused(ctx, messages)
	case a.Status == http.StatusRequestEntityTooLarge:
		c.size = len(messages) / 2
		return true
	case a.Status == http.StatusGone:
		c.status.Stopped = true
		c.options.Log("telemetry is not delivered until the next start: the platform is gone", errors.New(said(a, err)))
		return false
	default:
		// A wrong key or address, or a redirect: nothing that waiting a minute mends.
		c.next = c.options.Now().Add(pauseDay)
		c.options.Log("telemetry is not delivered for a day: check its URL and write key, then `parley telemetry flush` tries at once", errors.New(said(a, err)))
		return false
	}
}

// said tells what came of a request, without what the platform wrote.
func said(a Answer, err error) string {
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace("HTTP " + strconv.Itoa(a.Status) + " " + http.StatusText(a.Status))
}

func (c *Courier) delivered(ctx context.Context, messages []Message) bool {
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	if err := c.spool.Delete(ctx, ids); err != nil {
		// They will be sent again, which is no loss; but not at once.
		c.retry("")
		return false
	}
	c.status.Delivered += int64(len(messages))
	return true
}

// refused is for a request that the platform finds wrong: its messages are
// sent one by one, once, and those that are refused then are put aside.
func (c *Courier) refused(ctx context.Context, messages []Message) bool {
	c.tries, c.next = 0, time.Time{}
	if len(messages) > 1 {
		c.single = len(messages)
		return true
	}
	c.single = max(c.single-1, 0)
	c.status.Refused++
	c.options.Log("the telemetry platform refuses a message, which is kept aside for a week", fmt.Errorf("message %s of collector %s", messages[0].ID, messages[0].Collector))
	if err := c.spool.Quarantine(ctx, messages[0].ID, c.options.Now().Add(keepBad)); err != nil {
		c.retry("")
		return false
	}
	return true
}

// retry waits: as long as the platform asks for, and else a random time up to
// a bound that doubles.
func (c *Courier) retry(after string) {
	bound := retryMost
	if c.tries < 8 {
		bound = min(retryLeast<<c.tries, retryMost)
	}
	c.tries++
	wait := retryLeast
	if bound > retryLeast {
		wait += c.jitter(bound - retryLeast)
	}
	if d, ok := parseRetryAfter(after, c.options.Now()); ok {
		wait = max(wait, min(d, retryAfterMost))
	}
	c.next = c.options.Now().Add(wait)
}

// parseRetryAfter reads seconds or a date.
func parseRetryAfter(s string, now time.Time) (time.Duration, bool) {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second, true
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(t.Sub(now), 0), true
	}
	return 0, false
}
