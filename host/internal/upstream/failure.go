package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/parley-search/parley/host/internal/chat"
)

// failure says why no response came. host is the URL's, which somebody
// configured; what it resolved to is not told.
func failure(w *watch, host string, secrets map[string]string, err error) error {
	if w.ended() {
		return w.failure("", err)
	}
	if a, ok := errors.AsType[errAddress](err); ok {
		if a.never {
			return refusedFor(err, host+" is at a link-local or metadata address, where no request goes")
		}
		return refusedFor(err, host+" is at a private address; only a workspace's own baseUrl may name one")
	}
	e := &chat.UpstreamError{Kind: chat.UpstreamConnect, Err: cause(err, secrets), Retryable: !w.reached() || unsent(w, err)}
	var plain tls.RecordHeaderError
	switch dns, isDNS := errors.AsType[*net.DNSError](err); {
	case isDNS && dns.IsNotFound:
		e.Message = "no address was found for " + host
	case isDNS:
		e.Message = "the name " + host + " could not be looked up"
	case isCertificate(err):
		e.Message = "the TLS certificate of " + host + " is not trusted"
		e.Retryable = false
	case errors.As(err, &plain) || strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		e.Message = host + " does not speak TLS; is it http:// rather than https://?"
		e.Retryable = false
	case strings.Contains(err.Error(), "headers exceeded"):
		e.Kind, e.Message = chat.UpstreamTooLong, "the head of the provider's answer is too long"
	case e.Retryable:
		e.Message = "no connection to " + host
	case isTimeout(err):
		e.Kind, e.Message = chat.UpstreamTimeout, "the provider did not answer in time"
	default:
		e.Kind, e.Message = chat.UpstreamBroken, "the connection to the provider broke before it answered"
	}
	if e.Retryable && isTimeout(err) {
		e.Kind = chat.UpstreamTimeout
	}
	return e
}

// unsent reports whether err says that nothing reached the provider though
// there was a connection: it had been closed while it waited in the pool, which
// we saw too late, or saw and got no new one. (That the provider died over this
// very request looks the same, and is far rarer.)
func unsent(w *watch, err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "dial" {
		return true
	}
	closed := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "server closed idle connection")
	return closed && w.silentPool()
}

// ended reports whether the request was ended from this side: by a limit, by
// the caller's context or by Close.
func (w *watch) ended() bool { return w.ctx.Err() != nil }

// failure says why a request or response ended; message is for what this side
// did not end.
func (w *watch) failure(message string, err error) error {
	if !w.ended() {
		return broken(message, cause(err, nil))
	}
	why := context.Cause(w.ctx)
	if e, ok := errors.AsType[*chat.UpstreamError](why); ok {
		return e
	}
	switch {
	case errors.Is(why, errClosed):
		return broken("the response was closed while it was read", why)
	case errors.Is(why, context.DeadlineExceeded):
		return &chat.UpstreamError{Kind: chat.UpstreamTimeout, Message: "the answer's time is over", Err: why}
	}
	return broken("the answer was cancelled", errors.Join(context.Canceled, why))
}

func broken(message string, err error) error {
	return &chat.UpstreamError{Kind: chat.UpstreamBroken, Message: message, Err: err}
}

func refusedFor(err error, message string) error {
	a, _ := errors.AsType[errAddress](err)
	return &chat.UpstreamError{Kind: chat.UpstreamRefused, Message: message, Err: a}
}

// cause returns the part of err that may be logged: without the addresses that
// package net puts around it, without secrets, and not long.
func cause(err error, secrets map[string]string) error {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		// Its text names the machine's name server.
		bare := *dns
		bare.Server = ""
		return &bare
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Err
	}
	for _, known := range []error{io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, known) {
			return known
		}
	}
	const most = 200
	text := Scrub(err.Error(), secrets)
	return errors.New(strings.ToValidUTF8(text[:min(len(text), most)], ""))
}

func isTimeout(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}

func isCertificate(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &authority) || errors.As(err, &name) || errors.As(err, &invalid)
}
