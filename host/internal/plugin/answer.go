package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/answer"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// Bounds of what a plugin may say of an error.
const (
	maxMessage    = 1 << 10 // bytes
	maxRetryAfter = 24 * time.Hour
)

var errorKinds = []string{
	abi.ErrorAuth, abi.ErrorPermission, abi.ErrorNotFound, abi.ErrorInvalidRequest, abi.ErrorContextLength, abi.ErrorRateLimit,
	abi.ErrorQuota, abi.ErrorContentFilter, abi.ErrorOverloaded, abi.ErrorUpstream, abi.ErrorTimeout,
}

// mendEncodeResponse refuses an answer that is neither a request nor a reply and
// puts the defaults where nothing is said. What else cannot be sent is refused
// where it would leave: see [outbound.Request.Check].
func mendEncodeResponse(r *abi.EncodeResponse) error {
	switch {
	case r.Reply != nil && r.URL != "":
		return errors.New("it has both url and reply")
	case r.Reply != nil:
		return nil
	case r.URL == "":
		return errors.New("it has neither url nor reply")
	}
	r.Method = cmp.Or(r.Method, http.MethodPost)
	r.Framing = cmp.Or(r.Framing, abi.FramingAuto)
	if string(r.Body) == "null" {
		r.Body = nil
	}
	return nil
}

// checkTemplate refuses an answer to an op that the host reads by itself and that
// says not how, or asks for what decoding alone heeds.
func checkTemplate(op string, r *abi.EncodeResponse) error {
	if op == abi.OpEmbed && r.Reply != nil {
		return errors.New("it has a reply, and vectors come from requests")
	}
	if err := answer.Check(op, r.Answer); err != nil {
		return fmt.Errorf("its answer, the template of the response, %w", err)
	}
	return nil
}

// checkDescribed refuses a request that could not be sent, whatever it is granted.
func checkDescribed(r *abi.EncodeResponse) error {
	if r.Reply != nil {
		return nil
	}
	_, err := outbound.CheckForm(r)
	return err
}

// checkDecodeOutput refuses an answer that is not a state and whole records.
func checkDecodeOutput(b []byte) error {
	_, records, err := abi.DecodeOutput(b)
	if err != nil {
		return fmt.Errorf("its state is not whole or over %d bytes: %w", abi.MaxState, err)
	}
	for {
		_, rest, ok, err := abi.NextRecord(records)
		if err != nil {
			return fmt.Errorf("its records are not whole: %w", err)
		}
		if !ok {
			return nil
		}
		records = rest
	}
}

// mendProviderError brings what a plugin said of an error within bounds. A
// kind that a newer SDK may know is one of the provider's own troubles here.
func mendProviderError(e *abi.ProviderError) {
	if !slices.Contains(errorKinds, e.Kind) {
		e.Kind = abi.ErrorUpstream
	}
	e.Message = plain(e.Message)
	if e.Message == "" {
		e.Message = "the provider gave no reason"
	}
	e.Advice, e.ProviderCode = plain(e.Advice), plain(e.ProviderCode)
	e.RetryAfterMS = min(max(e.RetryAfterMS, 0), maxRetryAfter.Milliseconds())
}

// plain returns s as one bounded line of text.
func plain(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage] + "…"
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// refuse makes the error for an answer that is not as the contract says.
func (p *Provider) refuse(export string, err error) error {
	p.refused.Add(1)
	return &provider.CallError{
		Kind:    provider.Fault,
		Message: fmt.Sprintf("the plugin %s %s gave an answer that cannot be used", p.manifest.Name, p.manifest.Version),
		Err:     fmt.Errorf("answer of %s: %w", export, err),
	}
}

// failed turns an error of package wasm into one of package chat.
func (p *Provider) failed(ctx context.Context, err error) error {
	id := p.manifest.Name + " " + p.manifest.Version
	if f, ok := errors.AsType[*wasm.Fault](err); ok {
		rests := "the plugin %s rests for a while, after it failed several times"
		switch f.Kind {
		case wasm.FaultClient:
			rests = "the plugin %s rests for a while for this client, whose last messages made it fail; others are not affected"
			fallthrough
		case wasm.FaultBreaker:
			return &provider.CallError{Kind: provider.Unavailable, Err: err, RetryAfter: f.RetryAfter, Message: fmt.Sprintf(rests, id)}
		}
		return &provider.CallError{Kind: provider.Fault, Err: err, Message: fmt.Sprintf("the plugin %s failed (%s)", id, f.Kind)}
	}
	if g, ok := errors.AsType[*wasm.GuestError](err); ok {
		return &provider.CallError{Kind: provider.Declared, Code: g.Code, Message: plain(g.Message)}
	}
	switch {
	case errors.Is(err, wasm.ErrInputTooLarge):
		return &provider.CallError{Kind: provider.TooLarge, Err: err, Message: fmt.Sprintf("the conversation is too large for the plugin %s", id)}
	case errors.Is(err, wasm.ErrClosed):
		return &provider.CallError{Kind: provider.Unavailable, Err: err, Message: fmt.Sprintf("the plugin %s is being closed", id)}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &provider.CallError{Kind: provider.Fault, Err: err, Message: fmt.Sprintf("the plugin %s failed", id)}
}
