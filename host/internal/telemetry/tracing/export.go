package tracing

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	batchTime  = 5 * time.Second  // between two exports
	exportTime = 10 * time.Second // for one
	closeTime  = 5 * time.Second  // for the last
)

// prefixed is the name of an attribute: one of OpenTelemetry's own, which has
// dots, or ours.
func prefixed(name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return "parley." + name
}

// An exporter sends steps in the JSON form of OTLP. The library's own exporter
// brings gRPC with it, also for HTTP: 10 MB of a binary, for what is a page.
type exporter struct {
	send func(ctx context.Context, body []byte) error
}

// The wire form, as far as it is used here: field names are those of OTLP, ids
// are hexadecimal, and 64-bit numbers are texts.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource struct {
			Attributes []keyValue `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	scopeSpans struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []span `json:"spans"`
	}
	span struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		TraceState string     `json:"traceState,omitempty"`
		ParentID   string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Events     []moment   `json:"events,omitempty"`
		Status     status     `json:"status"`
	}
	moment struct {
		Time string `json:"timeUnixNano"`
		Name string `json:"name"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"` // 2: error
	}
	keyValue struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		Text   *string `json:"stringValue,omitempty"`
		Number *string `json:"intValue,omitempty"`
	}
)

// statusError is OTLP's number for a step that failed.
const statusError = 2

// ExportSpans implements [sdk.SpanExporter].
func (e exporter) ExportSpans(ctx context.Context, all []sdk.ReadOnlySpan) error {
	if len(all) == 0 {
		return nil
	}
	var r resourceSpans
	r.Resource.Attributes = keyValues(all[0].Resource().Attributes())
	r.ScopeSpans = make([]scopeSpans, 1)
	r.ScopeSpans[0].Scope.Name = all[0].InstrumentationScope().Name
	for _, s := range all {
		r.ScopeSpans[0].Spans = append(r.ScopeSpans[0].Spans, wire(s))
	}
	body, err := json.Marshal(request{[]resourceSpans{r}})
	if err != nil {
		return fmt.Errorf("encode trace: %w", err)
	}
	return e.send(ctx, body)
}

// Shutdown implements [sdk.SpanExporter].
func (exporter) Shutdown(context.Context) error { return nil }

func wire(s sdk.ReadOnlySpan) span {
	c := s.SpanContext()
	out := span{
		TraceID: c.TraceID().String(), SpanID: c.SpanID().String(), TraceState: c.TraceState().String(),
		Name: s.Name(), Kind: int(s.SpanKind()), Start: nanos(s.StartTime()), End: nanos(s.EndTime()), Attributes: keyValues(s.Attributes()),
	}
	if p := s.Parent(); p.SpanID().IsValid() {
		out.ParentID = p.SpanID().String()
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, moment{nanos(e.Time), e.Name})
	}
	if what := s.Status().Description; what != "" { // only a failure has one
		out.Status = status{what, statusError}
	}
	return out
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func keyValues(all []attribute.KeyValue) (out []keyValue) {
	for _, a := range all {
		text := a.Value.String()
		v := value{Text: &text}
		if a.Value.Type() == attribute.INT64 {
			v = value{Number: &text}
		}
		out = append(out, keyValue{string(a.Key), v})
	}
	return out
}
