// Package telemetryapi answers the routes that show an operator what telemetry
// says of the host: what was, is and would be sent, byte for byte.
package telemetryapi

import (
	"cmp"
	"context"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// A Server answers the routes.
type Server struct {
	Telemetry *telemetry.Engine // nil: telemetry is off
	Usage     Usage
}

// Usage is what the routes of telemetry show beside its engine.
type Usage struct {
	OffBy   string // what switched it off; empty: it is on
	MayEnd  bool   // clients may end a window by hand
	UID     string
	SentTo  string // empty: nowhere
	Spool   telemetry.Spool
	Courier *telemetry.Courier // nil: it is sent nowhere
	// Verify delivers body to a port of the loopback interface, once and as the
	// courier would, but with no write key.
	Verify func(ctx context.Context, port int, body []byte) (telemetry.Answer, error)
	// Delete stops telemetry, deletes all that there is of it on this machine, and
	// returns the Instance UID that was, empty where there was none.
	Delete  func() (uid string, err error)
	Contact string // whom to ask to delete what was sent; empty: nobody is named
}

// engine is nil where telemetry is off, or was deleted.
func (s *Server) engine() *telemetry.Engine {
	if !s.Telemetry.On() {
		return nil
	}
	return s.Telemetry
}

type telemetryBody struct {
	On          bool                     `json:"on"`
	OffBy       string                   `json:"offBy,omitempty"`
	InstanceUID string                   `json:"instanceUid,omitempty"`
	SentTo      string                   `json:"sentTo,omitempty"`
	ElapsedMS   int64                    `json:"elapsedMs,omitempty"` // of the window under way
	Engine      *telemetry.Status        `json:"engine,omitempty"`
	Spool       *telemetry.Usage         `json:"spool,omitempty"`
	Delivery    *telemetry.CourierStatus `json:"delivery,omitempty"`
}

// GetTelemetry answers GET /telemetry.
func (s *Server) GetTelemetry(r *request.Call) error {
	b, err := s.telemetryStatus(r)
	if err != nil {
		return err
	}
	return r.OK(b)
}

func (s *Server) telemetryStatus(r *request.Call) (telemetryBody, error) {
	engine := s.engine()
	if engine == nil {
		off := "this build"
		if s.Telemetry != nil {
			off = "its deletion"
		}
		return telemetryBody{OffBy: cmp.Or(s.Usage.OffBy, off)}, nil
	}
	status := engine.Status()
	spool, err := s.Usage.Spool.Usage(r.Base)
	if err != nil {
		return telemetryBody{}, err
	}
	b := telemetryBody{
		On: true, InstanceUID: s.Usage.UID, SentTo: s.Usage.SentTo, ElapsedMS: status.Elapsed.Milliseconds(), Engine: &status, Spool: &spool,
	}
	if s.Usage.Courier != nil {
		b.Delivery = new(s.Usage.Courier.Status())
	}
	return b, nil
}

// messageBody is a sealed message; its bytes are a text, so that nothing of
// them changes on the way.
type messageBody struct {
	ID        string `json:"id"`
	Collector string `json:"collector"`
	Version   string `json:"version"`
	Window    uint64 `json:"window"`
	Outbound  bool   `json:"outbound"`
	Body      string `json:"body"`
}

func messageBodies(messages []telemetry.Message) []messageBody {
	all := make([]messageBody, len(messages))
	for i, m := range messages {
		all[i] = messageBody{m.ID, m.Collector, m.Version, m.Window, m.Outbound, string(m.Body)}
	}
	return all
}

// messagesBody is a list of messages, with the bodies of the requests that
// deliver them.
type messagesBody struct {
	request.List[messageBody]
	Requests []string `json:"requests"`
}

func newMessagesBody(messages []telemetry.Message) messagesBody {
	b := messagesBody{request.NewList(messageBodies(messages), 0, len(messages), len(messages)), []string{}}
	for _, batch := range telemetry.Batches(messages) {
		b.Requests = append(b.Requests, string(telemetry.Body(batch)))
	}
	return b
}

// maxPending bounds what is shown of a spool, which may hold 10 MB.
const maxPending = 500

// GetMessages answers GET /telemetry/messages: of=next is the window under way
// as it would be sealed now, of=last the one before, of=pending what waits to
// be delivered. It changes nothing.
func (s *Server) GetMessages(r *request.Call) error {
	engine := s.engine()
	if engine == nil {
		return r.OK(newMessagesBody(nil))
	}
	var messages []telemetry.Message
	var err error
	switch of := r.Query["of"]; of {
	case "", "next":
		messages = engine.Preview()
	case "last":
		messages = engine.Last().Messages
	case "pending":
		messages, err = s.Usage.Spool.Pending(r.Base, maxPending)
	default:
		return apierr.Newf(apierr.BadRequest, "`of` is %.64q and must be next, last or pending.", of)
	}
	if err != nil {
		return err
	}
	return r.OK(newMessagesBody(messages))
}

// metricBody is what a manifest says of a metric, and which collector's.
type metricBody struct {
	Collector string `json:"collector"`
	Version   string `json:"version"`
	Outbound  bool   `json:"outbound"`
	*abi.Metric
}

// GetTelemetryMetrics answers GET /telemetry/metrics: all that may be said.
func (s *Server) GetTelemetryMetrics(r *request.Call) error {
	results := []metricBody{}
	if engine := s.engine(); engine != nil {
		for _, c := range engine.Status().Collectors {
			for i := range c.Manifest.Metrics {
				results = append(results, metricBody{c.Name, c.Version, c.Outbound, &c.Manifest.Metrics[i]})
			}
		}
	}
	slices.SortStableFunc(results, func(a, b metricBody) int { return cmp.Compare(a.Path, b.Path) })
	return r.OK(request.NewList(results, 0, len(results), len(results)))
}
