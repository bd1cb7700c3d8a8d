package host

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/credential"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/telemetry/tracing"
)

// openLimits returns what bounds and counts what keys and workspaces ask for.
func (h *Host) openLimits(o Options, db *store.Store) *limit.Limiter {
	l := limit.New(limit.Options{
		Storage: db, Now: o.Pace.Now, Refused: h.figures.Limited,
		Failed: func(err error) { h.log.Error().Err(err).Msg("usage is not written down") },
	})
	h.onClose("writing down what was used", l.Close)
	h.onClose("counting what is used", h.runInBackground(l.Run))
	return l
}

// openChat makes chats work, and tells tracer of them where there is one.
func (h *Host) openChat(c config.Config, o Options, spaces *store.Workspaces, tracer *tracing.Tracer, limiter *limit.Limiter) error {
	record, err := h.recorder(c)
	if err != nil {
		return err
	}
	out := upstream.Options{
		UserAgent: "parley/" + o.Version,
		Record:    record,
		Private:   c.PrivateNetworks,
		Resolver:  o.Hooks.Reach.Resolver,
		TLS:       o.Hooks.Reach.TLS,
		Limits:    upstream.Limits{Connect: c.ProviderConnect, FirstByte: c.ProviderFirstByte, Silence: c.ProviderSilence, Whole: c.ProviderAnswer, Most: c.ProviderTimeoutMax},
	}
	out.Signer = h.openSigner(out, o)
	up := upstream.New(out)
	h.onClose("connections to providers", up.Close)
	deps := chat.Deps{
		Workspaces: spaces, Sources: h.plugins, Upstream: up, Searcher: h.search, Guards: h.plugins,
		Limits: chat.Limits{Rounds: c.ChatMaxRounds, Steps: c.ChatMaxSteps}, Limiter: limiter, Now: o.Pace.Now,
		DeploymentGuards: c.Guards, Guarded: h.guarded, RequestOf: logs.RequestOf,
	}
	if tracer != nil { // not a nil tracer in an interface
		deps.Tracer = tracer
	}
	h.chat = chat.New(deps)
	return nil
}

// guarded counts what a guard did for a workspace, and writes down its failures.
func (h *Host) guarded(workspace string, e guard.Event) {
	h.figures.Guarded(e)
	if e.Err != nil {
		h.log.Warn().Err(e.Err).Str("plugin", e.Guard).Str("stage", e.Stage).Str("workspace", workspace).Msg("guard failed")
	}
}

// openSigner returns what signs requests in that go out by reach; its tokens are
// its own.
func (h *Host) openSigner(reach upstream.Options, o Options) *credential.Signer {
	tokens := upstream.NewTransport(reach)
	h.onClose("connections to token servers", func() error { tokens.CloseIdleConnections(); return nil })
	return credential.New(credential.Options{Transport: tokens, GoogleTokenURL: o.Hooks.GoogleTokenURL})
}

// recorder returns what writes down the answers of providers, or nil.
func (h *Host) recorder(c config.Config) (*upstream.Recorder, error) {
	if c.ChatRecordDir == "" {
		return nil, nil
	}
	h.log.Warn().Str("dir", c.ChatRecordDir).Strs("workspaces", c.ChatRecordWorkspaces).Msg("recording providers' answers: the directory will hold what people ask and are told")
	return upstream.NewRecorder(upstream.RecordOptions{
		Dir: c.ChatRecordDir, Workspaces: c.ChatRecordWorkspaces,
		Failed: func(message string, err error) { h.log.Warn().Err(err).Msg(message) },
	})
}

// openTracing returns what tells the configured collector of chats, or nil.
func (h *Host) openTracing(c config.Config, o Options) (*tracing.Tracer, error) {
	if c.OTLPEndpoint == "" {
		return nil, nil
	}
	sender, err := upstream.NewTelemetrySender(strings.TrimRight(c.OTLPEndpoint, "/")+"/v1/traces", secret.Text{}, upstream.Options{Private: c.PrivateNetworks})
	if err != nil {
		return nil, err
	}
	h.onClose("connections of traces", sender.Close)
	t := tracing.Open(o.Version, func(ctx context.Context, body []byte) error {
		a, err := sender.Send(ctx, body)
		if err == nil && a.Status/100 != 2 {
			err = fmt.Errorf("HTTP %d %s", a.Status, http.StatusText(a.Status))
		}
		if err != nil {
			h.warn("traces are lost: the collector does not take them", err)
		}
		return nil // the library would print it besides
	})
	h.onClose("traces", t.Close)
	h.log.Info().Str("otlp_endpoint", c.OTLPEndpoint).Msg("chats are traced")
	return t, nil
}
