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

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
)

// failure says why no response came. host is the URL's, which somebody
// configured; what it resolved to is not told.
func failure(w *watch, host string, secrets *secret.Scrubber, err error) error {
	slow, isSlow := errors.AsType[errSlow](context.Cause(w.ctx))
	if isSlow {
		err = slow
	} else if w.ended() {
		return w.failure("", err)
	}
	if a, ok := errors.AsType[errAddress](err); ok {
		if a.never {
			return refusedFor(err, host+" is at a link-local or metadata address, where no request goes")
		}
		return refusedFor(err, host+" is at a private address, which --allow-private-networks has to allow and only a setting of this host may name")
	}
	e := &outbound.Error{Kind: outbound.Connect, Message: unreached(host), Err: cause(err, secrets), Why: why(err), Retryable: !w.reached() || unsent(w, err)}
	switch {
	case isCertificate(err) || isPlain(err):
		e.Retryable = false // neither mends itself
	case strings.Contains(err.Error(), "headers exceeded"):
		e.Kind, e.Message = outbound.TooLong, "the head of the provider's answer is too long"
	case !e.Retryable:
		e.Kind = outbound.Broken
	}
	return e
}

// unreached is all that is told where nothing that is HTTP answered: who chooses
// the URL must not learn from it which ports are open, or which names are known
// inside a network. The cause is for the log.
func unreached(host string) string { return host + " was not reached; the host's log has the cause" }

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
	if e, ok := errors.AsType[*outbound.Error](why); ok {
		return e
	}
	switch {
	case errors.Is(why, errClosed):
		return broken("the response was closed while it was read", why)
	case errors.Is(why, context.DeadlineExceeded):
		return &outbound.Error{Kind: outbound.Timeout, Message: "the answer's time is over", Err: why}
	}
	return broken("the answer was cancelled", errors.Join(context.Canceled, why))
}

func broken(message string, err error) error {
	return &outbound.Error{Kind: outbound.Broken, Message: message, Err: err}
}

func refusedFor(err error, message string) error {
	a, _ := errors.AsType[errAddress](err)
	return &outbound.Error{Kind: outbound.Refused, Message: message, Err: a}
}

// cause returns the part of err that may be logged: without the addresses that
// package net puts around it, without secrets, and not long.
func cause(err error, secrets *secret.Scrubber) error {
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
	text := secrets.Text(err.Error())
	// What package net/http could not read, it quotes: that may be anybody's words.
	text, _, _ = strings.Cut(text, `"`)
	if before, _, found := strings.Cut(text, "malformed "); found {
		text = before + "the answer is not HTTP"
	}
	return errors.New(strings.ToValidUTF8(text[:min(len(text), most)], ""))
}

// why says why there was no connection, in words of this side alone; empty: it is not known.
func why(err error) string {
	var (
		dns       *net.DNSError
		number    syscall.Errno
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such name"
	case errors.As(err, &dns):
		return "the name server does not answer"
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &authority):
		return "its certificate is of an authority that this machine does not know"
	case errors.As(err, &name):
		return "its certificate is of another name"
	case isCertificate(err):
		return "its certificate is not valid"
	case isPlain(err):
		return "it does not speak TLS"
	case errors.Is(err, io.EOF):
		return "it ended the connection"
	}
	return ""
}

// isPlain reports whether the other side does not speak TLS where it should.
func isPlain(err error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok || strings.Contains(err.Error(), "HTTP response to HTTPS client")
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
