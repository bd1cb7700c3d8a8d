// Package tracing sends what answers spend their time with to a collector of
// OpenTelemetry. It owns that library: who has steps to tell of does so by
// [chat.Tracer].
//
// No text gets here but names of ours and the operator's. Of an error its code
// is kept, never what it says.
package tracing

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// A Tracer tells one collector. Safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	context  propagation.TraceContext
}

var _ chat.Tracer = (*Tracer)(nil)

// Open returns a Tracer of the host of this version. send gets each batch of
// steps as an ExportTraceServiceRequest in JSON; where it fails, the batch is
// lost. Nothing here waits for it: a queue that is full drops steps.
func Open(version string, send func(ctx context.Context, body []byte) error) *Tracer {
	p := sdk.NewTracerProvider(
		// All that may change what is sent is said here: the library would look
		// at variables that "parley config explain" does not know.
		sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
		sdk.WithRawSpanLimits(sdk.SpanLimits{
			AttributeValueLengthLimit: 512, AttributeCountLimit: 32, EventCountLimit: 32, LinkCountLimit: 1, AttributePerEventCountLimit: 1, AttributePerLinkCountLimit: 1,
		}),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "parley"), attribute.String("service.version", version))),
		sdk.WithBatcher(exporter{send}, sdk.WithMaxQueueSize(2048), sdk.WithMaxExportBatchSize(512), sdk.WithBatchTimeout(batchTime), sdk.WithExportTimeout(exportTime)),
	)
	return &Tracer{provider: p, tracer: p.Tracer("github.com/parley-search/parley/host")}
}

// Close sends what is left, within closeTime.
func (t *Tracer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("close traces: %w", err)
	}
	return nil
}

// Begin implements [chat.Tracer].
func (t *Tracer) Begin(ctx context.Context, name string) (context.Context, chat.Step) {
	ctx, span := t.tracer.Start(ctx, name)
	return ctx, step{span}
}

// Request begins the step of a client's request, within the one that its
// headers traceparent and tracestate tell of; where they tell of none, or of
// nonsense, it is the first of a new trace.
func (t *Tracer) Request(ctx context.Context, name, traceparent, tracestate string) (context.Context, chat.Step) {
	ctx = t.context.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent, "tracestate": tracestate})
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, step{span}
}

// ID returns the trace that ctx is of, in hexadecimal, or "".
func (t *Tracer) ID(ctx context.Context) string {
	if c := trace.SpanContextFromContext(ctx); c.IsSampled() {
		return c.TraceID().String()
	}
	return ""
}

type step struct{ span trace.Span }

func (s step) Number(name string, n int) { s.span.SetAttributes(attribute.Int(prefixed(name), n)) }
func (s step) Text(name, text string)    { s.span.SetAttributes(attribute.String(prefixed(name), text)) }
func (s step) Moment(name string)        { s.span.AddEvent(name) }

func (s step) End(err error) {
	if err != nil {
		s.span.SetStatus(codes.Error, kind(err))
		s.span.SetAttributes(attribute.String("error.type", kind(err)))
	}
	s.span.End()
}

// kind is what may be told of an error.
func kind(err error) string {
	if e, ok := errors.AsType[*provider.CallError](err); ok {
		return "plugin_" + string(e.Kind)
	}
	if e, ok := errors.AsType[*outbound.Error](err); ok {
		return "provider_" + string(e.Kind)
	}
	if errors.Is(err, context.Canceled) {
		return "cancelled"
	}
	return apierr.From(err).Code.String()
}
