package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// json sends a JSON body.
func (x *run) json(ctx context.Context, method, path string, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	_, err = x.send(ctx, Request{Method: method, Path: path, Body: b})
	return err
}

// send sends r until it is answered by 2xx or one of the other statuses that
// are fine: again, with growing pauses, while the other side cannot be reached
// or is too busy, and no longer than patience lasts. What it refuses is an
// [apierr.Error] at once.
func (x *run) send(ctx context.Context, r Request, fine ...int) (Answer, error) {
	pause := x.opts.Pause
	for began := time.Now(); ; pause = min(2*pause, 30*x.opts.Pause) {
		a, err := x.target.Send(ctx, r)
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		if err == nil && (a.Status/100 == 2 || slices.Contains(fine, a.Status)) {
			return a, nil
		}
		again, failure := x.judge(a, err)
		wait := max(pause, a.After)
		if !again || time.Since(began)+wait > x.opts.Patience {
			return a, failure
		}
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// judge says what is wrong with an answer, and whether the same may be answered
// better later.
func (x *run) judge(a Answer, err error) (again bool, failure *apierr.Error) {
	failed := func(code apierr.Code, format string, args ...any) *apierr.Error {
		so := fmt.Sprintf(" %d of %d documents were looked at before; what the other instance took stays there.", x.Looked, x.total)
		return &apierr.Error{Code: code, Err: err, Message: "The other instance " + fmt.Sprintf(format, args...) + "." + so}
	}
	if err != nil {
		u, _ := errors.AsType[*outbound.Error](err)
		switch {
		case u == nil:
			return true, failed(searcherr.RemoteNotSent, "was not reached; the host's log has the cause")
		case u.Kind == outbound.Refused:
			return false, failed(searcherr.RemoteNotSent, "was not asked: %s", u.Message)
		case u.Kind == outbound.Timeout:
			return true, failed(searcherr.RemoteTimeout, "did not answer in time")
		}
		// The same whatever the cause, see package upstream. A certificate that
		// nobody trusts does not mend itself.
		return u.Retryable || u.Kind != outbound.Connect, failed(searcherr.RemoteNotSent, "was not reached; the host's log has the cause")
	}
	said := remoteCode(a.Body)
	switch s := a.Status; {
	case s == http.StatusTooManyRequests || s == http.StatusRequestTimeout || s == http.StatusServiceUnavailable || s/100 == 5:
		return true, failed(searcherr.RemoteFailed, "answers %d%s", s, said)
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return false, failed(searcherr.RemoteInvalidKey, "refuses the `apiKey` (%d%s): it must allow indexes.get, indexes.create, settings.update and documents.add", s, said)
	case s == http.StatusRequestEntityTooLarge:
		return false, failed(searcherr.RemoteBadRequest, "takes no request of this size (413%s): export with a smaller `payloadSize`", said)
	case s/100 == 4:
		return false, failed(searcherr.RemoteBadRequest, "refuses what it was sent (%d%s)", s, said)
	default:
		return false, failed(searcherr.RemoteBadResponse, "answers %d, which its API would not", s)
	}
}

// remoteCode is the code of an error's body, to be shown behind a status.
func remoteCode(body []byte) string {
	var e struct{ Code string }
	if json.Unmarshal(body, &e) != nil || e.Code == "" || len(e.Code) > 64 || strings.Trim(e.Code, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return ", " + e.Code
}
