package telemetryapi

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// windowBody is a window that is over.
type windowBody struct {
	Window   uint64        `json:"window"`
	Sealed   time.Time     `json:"sealed"`
	Messages []messageBody `json:"messages"`
	Requests []string      `json:"requests"` // bodies of the requests that deliver it by itself
}

func windowBodies(windows []telemetry.Window) []windowBody {
	all := make([]windowBody, len(windows))
	for i, w := range windows {
		m := newMessagesBody(w.Messages)
		all[i] = windowBody{w.Number, w.Sealed.UTC(), m.Results, m.Requests}
	}
	return all
}

// GetWindows answers GET /telemetry/windows: the last windows, delivered or
// not, the newest first.
func (s *Server) GetWindows(r *request.Call) error {
	limit, err := r.Query.Integer("limit", 1, apierr.BadRequest)
	if err != nil {
		return err
	}
	var windows []telemetry.Window
	if engine := s.engine(); engine != nil {
		if windows, err = s.Usage.Spool.Windows(r.Base, limit); err != nil {
			return err
		}
	}
	return r.OK(request.NewList(windowBodies(windows), 0, limit, len(windows)))
}

// EndWindow answers POST /telemetry/flush: what waits to be delivered is tried at once, and
// the window under way ends as by the hour, which the author of a collector need not wait
// for.
func (s *Server) EndWindow(r *request.Call) error {
	hurried := s.Usage.Courier != nil && s.Usage.Courier.Hurry()
	if !s.Usage.MayEnd && hurried {
		return apierr.Newf(apierr.TelemetryFlushDisabled, "The messages that wait are sent now; `GET /telemetry` shows whether they arrive. The window goes on, since this host runs with `--env production`.")
	}
	if !s.Usage.MayEnd {
		return apierr.Newf(apierr.TelemetryFlushDisabled, "This host runs with `--env production`, where a window ends after its hour and never before: who reads the figures counts on that. Try collectors on a host of `--env development`; `GET /telemetry/messages` shows what the window comes to so far.")
	}
	engine := s.engine()
	if engine == nil {
		return apierr.Newf(apierr.BadRequest, "Telemetry is off: no window is under way.")
	}
	w, err := engine.EndWindow(r.Base)
	if err != nil {
		return err
	}
	return r.OK(windowBodies([]telemetry.Window{w})[0])
}

// deletedBody is what somebody needs who wants to have deleted what was sent.
type deletedBody struct {
	InstanceUID string `json:"instanceUid,omitempty"` // the only name of what was sent; absent where there was none
	SentTo      string `json:"sentTo,omitempty"`
	Contact     string `json:"contact,omitempty"`
}

// DeleteTelemetry answers DELETE /telemetry: nothing is counted from now on, nor after
// the next start, and what was kept is gone.
func (s *Server) DeleteTelemetry(r *request.Call) error {
	uid, err := s.Usage.Delete()
	if err != nil {
		return err
	}
	return r.OK(deletedBody{uid, s.Usage.SentTo, s.Usage.Contact})
}

// GetDeliveries answers GET /telemetry/deliveries: the last attempts, the
// oldest first.
func (s *Server) GetDeliveries(r *request.Call) error {
	all := []telemetry.Delivery{}
	if engine := s.engine(); engine != nil {
		noted, err := s.Usage.Spool.Deliveries(r.Base)
		if err != nil {
			return err
		}
		all = append(all, noted...)
	}
	return r.OK(request.NewList(all, 0, len(all), len(all)))
}

// exportBody is all that telemetry has of this instance.
type exportBody struct {
	telemetryBody
	Next        []messageBody        `json:"next"`
	Pending     []messageBody        `json:"pending"`
	Quarantined []messageBody        `json:"quarantined"`
	Windows     []windowBody         `json:"windows"`
	Deliveries  []telemetry.Delivery `json:"deliveries"`
	// State is what the next process would go on with: the texts that were
	// counted, by number, and each collector's own form of its window.
	State json.RawMessage `json:"state"`
}

// GetTelemetryExport answers GET /telemetry/export.
func (s *Server) GetTelemetryExport(r *request.Call) error {
	status, err := s.telemetryStatus(r)
	if err != nil {
		return err
	}
	b := exportBody{
		telemetryBody: status, Next: []messageBody{}, Pending: []messageBody{}, Quarantined: []messageBody{}, Windows: []windowBody{}, Deliveries: []telemetry.Delivery{},
	}
	engine := s.engine()
	if engine == nil {
		return r.OK(b)
	}
	b.Next = messageBodies(engine.Preview())
	return s.exportSpool(r, b)
}

func (s *Server) exportSpool(r *request.Call, b exportBody) error {
	spool := s.Usage.Spool
	pending, err := spool.Pending(r.Base, math.MaxInt)
	if err != nil {
		return err
	}
	held, err := spool.Quarantined(r.Base)
	if err != nil {
		return err
	}
	windows, err := spool.Windows(r.Base, math.MaxInt)
	if err != nil {
		return err
	}
	deliveries, err := spool.Deliveries(r.Base)
	if err != nil {
		return err
	}
	if b.State, err = spool.State(r.Base); err != nil {
		return err
	}
	if !json.Valid(b.State) {
		b.State = nil // it is damaged, or there is none yet
	}
	b.Pending, b.Quarantined, b.Windows = messageBodies(pending), messageBodies(held), windowBodies(windows)
	b.Deliveries = append(b.Deliveries, deliveries...)
	return r.OK(b)
}

type verifyRequest struct {
	Port int `json:"port"` // of the loopback interface
}

type verifyBody struct {
	Of       string        `json:"of"` // pending or next, as for GET /telemetry/messages
	Messages []messageBody `json:"messages"`
	Request  string        `json:"request"` // the body, as that route shows it
	Status   int           `json:"status"`  // that the listener answered
}

// verifyTimeout bounds one delivery to a listener of this machine.
const verifyTimeout = 10 * time.Second

// VerifyTelemetry answers POST /telemetry/verify: the batch that is sent next,
// or what the window under way would be sent as, goes to a listener on this
// machine, and nothing else changes. Who compares must be that listener.
func (s *Server) VerifyTelemetry(r *request.Call) error {
	var in verifyRequest
	if err := r.Decode(&in, nil); err != nil {
		return err
	}
	if in.Port < 1 || in.Port > 65535 {
		return apierr.Newf(apierr.BadRequest, "`port` is %d: want that of a listener on this machine's loopback interface, 1 to 65535.", in.Port)
	}
	engine := s.engine()
	if engine == nil {
		return apierr.Newf(apierr.BadRequest, "Telemetry is off: there is nothing to deliver.")
	}
	out := verifyBody{Of: "pending"}
	pending, err := s.Usage.Spool.Pending(r.Base, maxPending)
	if err != nil {
		return err
	}
	if len(pending) == 0 {
		out.Of, pending = "next", engine.Preview()
	}
	batches := telemetry.Batches(pending)
	if len(batches) == 0 {
		return apierr.Newf(apierr.BadRequest, "There is nothing to deliver: no collector whose messages may leave this machine has anything to say.")
	}
	body := telemetry.Body(batches[0])
	out.Messages, out.Request = messageBodies(batches[0]), string(body)
	ctx, cancel := context.WithTimeout(r.Base, verifyTimeout)
	defer cancel()
	answer, err := s.Usage.Verify(ctx, in.Port, body)
	if err != nil {
		return apierr.Newf(apierr.BadRequest, "Nobody took the delivery at port %d of this machine's loopback interface.", in.Port)
	}
	out.Status = answer.Status
	return r.OK(out)
}
