package telemetry

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

//go:embed page.html
var pageText string

// overview is all that the page shows, as the host answers it.
type overview struct {
	status     status
	metrics    []metric
	next       []message
	pending    []message
	windows    []window // the newest first
	deliveries []delivery
}

// pageData is what the template is given.
type pageData struct {
	Nonce, At, Status, Span string
	Tiles                   []pageTile
	Collectors              []pageCollector
	Next, Pending           []pageMessage
	Windows                 []pageWindow
	Deliveries              []pageDelivery
}

type (
	pageTile     struct{ Name, Text string }
	pageMessage  struct{ Collector, Version, Goes, Body, Bytes string }
	pageDelivery struct{ At, Outcome, Bytes, To, What string }
	pageWindow   struct {
		Window   uint64
		Sealed   string
		Messages []pageMessage
	}
)

// write renders the page. nonce is that of its style in the policy.
func (s *overview) write(w io.Writer, nonce string, now time.Time) error {
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("read page: %w", err)
	}
	data, err := s.page(nonce, now)
	if err != nil {
		return err
	}
	return page.Execute(w, data)
}

func (s *overview) page(nonce string, now time.Time) (*pageData, error) {
	var status strings.Builder
	if err := s.status.print(&status); err != nil {
		return nil, err
	}
	d := &pageData{
		Nonce: nonce, At: now.UTC().Format(time.RFC3339), Status: status.String(), Tiles: s.tiles(), Span: "The window under way",
		Next: pageMessages(s.next), Pending: pageMessages(s.pending),
	}
	if n := len(s.windows); n > 0 {
		d.Span = fmt.Sprintf("The last %d windows, and the one under way", n)
	}
	for _, w := range s.windows {
		d.Windows = append(d.Windows, pageWindow{w.Window, w.Sealed.UTC().Format(time.RFC3339), pageMessages(w.Messages)})
	}
	for _, x := range slices.Backward(s.deliveries) {
		d.Deliveries = append(d.Deliveries, pageDelivery{x.At.UTC().Format(time.RFC3339), x.Outcome, strconv.Itoa(x.Bytes), x.To, x.what()})
	}
	var err error
	d.Collectors, err = s.collectors()
	return d, err
}

// tiles are the status at a glance.
func (s *overview) tiles() []pageTile {
	if !s.status.On {
		return []pageTile{{"Telemetry", "off, by " + s.status.OffBy}}
	}
	e, spool := &s.status.Engine, &s.status.Spool
	tiles := []pageTile{
		{"Telemetry", "on"},
		{"Sent to", cmp.Or(s.status.SentTo, "nowhere: nothing leaves this machine")},
		{"Instance UID", s.status.InstanceUID},
		{"Window under way", fmt.Sprintf("number %d, %s old", e.Window, s.status.age())},
		{"Waiting for delivery", fmt.Sprintf("%d messages, %s", spool.Pending, humanize.IBytes(uint64(spool.Bytes)))},
		{"Lost", fmt.Sprintf("%d events, %d messages", e.DroppedEvents+e.LostEvents, spool.Dropped)},
	}
	if d := s.status.Delivery; d != nil {
		tiles = append(tiles, pageTile{"Since the start", fmt.Sprintf("%d messages delivered, %d refused", d.Delivered, d.Refused)}, pageTile{"Last request", orDash(d.Last)})
	}
	return tiles
}

func pageMessages(all []message) (shown []pageMessage) {
	for _, m := range all {
		body, err := indentBody(m.Body)
		if err != nil {
			body = m.Body // it is shown as it is, whatever that is
		}
		shown = append(shown, pageMessage{m.Collector, m.Version, goes(m.Outbound), body, strconv.Itoa(len(m.Body))})
	}
	return shown
}
