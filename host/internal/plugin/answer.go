package plugin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/wasm"
)

// Bounds of what a plugin may answer, in bytes but for maxHeaders.
const (
	maxURL         = 8 << 10
	maxHeaders     = 64
	maxHeaderValue = 8 << 10
	maxMessage     = 1 << 10
	maxRetryAfter  = 24 * time.Hour
)

var (
	framings   = []string{abi.FramingAuto, abi.FramingSSE, abi.FramingJSONLines, abi.FramingJSONArray}
	methods    = []string{http.MethodPost, http.MethodGet}
	errorKinds = []string{
		abi.ErrorAuth, abi.ErrorPermission, abi.ErrorNotFound, abi.ErrorInvalidRequest, abi.ErrorContextLength, abi.ErrorRateLimit,
		abi.ErrorQuota, abi.ErrorContentFilter, abi.ErrorOverloaded, abi.ErrorUpstream, abi.ErrorTimeout,
	}
)

// checkEncodeResponse refuses an answer that cannot be sent and puts the
// defaults where nothing is said.
func checkEncodeResponse(r *abi.EncodeResponse) error {
	if r.Reply != nil {
		if r.URL != "" {
			return errors.New("it has both url and reply")
		}
		return nil
	}
	if r.Method == "" {
		r.Method = http.MethodPost
	}
	if r.Framing == "" {
		r.Framing = abi.FramingAuto
	}
	if string(r.Body) == "null" {
		r.Body = nil
	}
	switch {
	case r.URL == "":
		return errors.New("it has neither url nor reply")
	case len(r.URL) > maxURL:
		return fmt.Errorf("its url has %d bytes and may have %d", len(r.URL), maxURL)
	case strings.ContainsFunc(r.URL, unfit):
		return errors.New("its url holds a space or a control character")
	case !slices.Contains(methods, r.Method):
		return fmt.Errorf("its method is %s and must be one of: %s", quote(r.Method), strings.Join(methods, ", "))
	case !slices.Contains(framings, r.Framing):
		return fmt.Errorf("its framing is %s and must be one of: %s", quote(r.Framing), strings.Join(framings, ", "))
	case len(r.Headers) > maxHeaders:
		return fmt.Errorf("it has %d headers and may have %d", len(r.Headers), maxHeaders)
	}
	for name, value := range r.Headers {
		if name == "" || strings.ContainsFunc(name, notToken) {
			return fmt.Errorf("its header %s is no name", quote(name))
		}
		if len(value) > maxHeaderValue || strings.ContainsFunc(value, unicode.IsControl) {
			return fmt.Errorf("its header %s holds a control character or more than %d bytes", quote(name), maxHeaderValue)
		}
	}
	return nil
}

func unfit(r rune) bool { return r <= ' ' || unicode.IsControl(r) || r == utf8.RuneError }

// notToken reports what a header's name cannot hold (RFC 9110, section 5.6.2).
func notToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
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
	e.ProviderCode = plain(e.ProviderCode)
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
	return &chat.PluginError{
		Kind:    chat.PluginFault,
		Message: fmt.Sprintf("the plugin %s %s gave an answer that cannot be used", p.manifest.Name, p.manifest.Version),
		Err:     fmt.Errorf("answer of %s: %w", export, err),
	}
}

// failed turns an error of package wasm into one of package chat.
func (p *Provider) failed(ctx context.Context, err error) error {
	id := p.manifest.Name + " " + p.manifest.Version
	if f, ok := errors.AsType[*wasm.Fault](err); ok {
		if f.Kind == wasm.FaultBreaker {
			return &chat.PluginError{
				Kind: chat.PluginUnavailable, Err: err, RetryAfter: f.RetryAfter,
				Message: fmt.Sprintf("the plugin %s rests for a while, after it failed several times", id),
			}
		}
		return &chat.PluginError{Kind: chat.PluginFault, Err: err, Message: fmt.Sprintf("the plugin %s failed (%s)", id, f.Kind)}
	}
	if g, ok := errors.AsType[*wasm.GuestError](err); ok {
		return &chat.PluginError{Kind: chat.PluginDeclared, Code: g.Code, Message: plain(g.Message)}
	}
	switch {
	case errors.Is(err, wasm.ErrInputTooLarge):
		return &chat.PluginError{Kind: chat.PluginTooLarge, Err: err, Message: fmt.Sprintf("the conversation is too large for the plugin %s", id)}
	case errors.Is(err, wasm.ErrClosed):
		return &chat.PluginError{Kind: chat.PluginUnavailable, Err: err, Message: fmt.Sprintf("the plugin %s is being closed", id)}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &chat.PluginError{Kind: chat.PluginFault, Err: err, Message: fmt.Sprintf("the plugin %s failed", id)}
}
