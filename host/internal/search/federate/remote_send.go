package federate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// maxRemoteAnswer bounds the bytes of a remote's answer.
const maxRemoteAnswer = 64 << 20

// ask sends the searches to their remotes and returns what waits for them. One
// that fails says so in its err, and is in nobody's way.
func (w *federated) ask(ctx context.Context, remotes []*remoteSearch) (wait func()) {
	ctx, cancel := context.WithTimeout(ctx, w.service.opts.RemoteTimeout)
	var all contain.Group
	for _, r := range remotes {
		all.Go(func() { r.answer, r.err = r.send(ctx, w.service.opts.Upstream, w.service.opts.RemoteTimeout) })
	}
	return func() { all.Wait(); cancel() }
}

// send sends one search.
func (r *remoteSearch) send(ctx context.Context, up outbound.Sender, limit time.Duration) (*remoteAnswer, *apierr.Error) {
	failed := func(code apierr.Code, err error, format string, args ...any) (*remoteAnswer, *apierr.Error) {
		return nil, &apierr.Error{Code: code, Err: err, Message: fmt.Sprintf("Remote `%s` ", r.name) + fmt.Sprintf(format, args...)}
	}
	text, err := json.Marshal(string(r.body)) // as text: no document of it is looked into
	if err != nil {
		return failed(searcherr.RemoteNotSent, err, "was not asked: its queries could not be written.")
	}
	out := &outbound.Request{
		BaseURL: r.remote.URL,
		Grants:  abi.Grants{HTTP: []string{abi.GrantBaseURL}, Secrets: []string{"apiKey"}},
		Encoded: &abi.EncodeResponse{
			Method: http.MethodPost, URL: r.remote.URL + "/multi-search", Body: abi.RawJSON(text),
			Headers: map[string]string{"Content-Type": "application/json", Header: "1"},
		},
	}
	if !r.remote.Key.IsZero() {
		out.Secrets = map[string]string{"apiKey": r.remote.Key.Reveal()}
		out.Encoded.Headers["Authorization"] = "Bearer ${apiKey}"
	}
	resp, err := up.Do(ctx, out)
	switch u, _ := errors.AsType[*outbound.Error](err); {
	case err == nil:
	case ctx.Err() != nil || u != nil && u.Kind == outbound.Timeout:
		return failed(searcherr.RemoteTimeout, err, "did not answer within %v.", limit)
	case u != nil && u.Kind == outbound.Refused:
		return failed(searcherr.RemoteNotSent, err, "was not asked: %s.", u.Message)
	default:
		return failed(searcherr.RemoteNotSent, err, "was not reached; the host's log has the cause.")
	}
	defer resp.Close()
	body := resp.Body(maxRemoteAnswer)
	if ctx.Err() != nil {
		return failed(searcherr.RemoteTimeout, ctx.Err(), "did not answer within %v.", limit)
	}
	switch status := resp.Status(); {
	case status == http.StatusOK:
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return failed(searcherr.RemoteInvalidKey, nil, "refused the key (%d%s): set its `searchApiKey` again by PATCH /network.", status, remoteCode(body))
	case status >= 400 && status < 500:
		return failed(searcherr.RemoteBadRequest, nil, "refused the queries (%d%s).", status, remoteCode(body))
	default:
		return failed(searcherr.RemoteFailed, nil, "answered %d%s.", status, remoteCode(body))
	}
	answer, err := readRemote(body, r.queries)
	if err != nil {
		return failed(searcherr.RemoteBadResponse, err, "answered what is not a result of a federated search: %s.", err)
	}
	return answer, nil
}

// remoteCode is the code of an error's body, to be shown behind a status.
func remoteCode(body []byte) string {
	var e struct{ Code string }
	if json.Unmarshal(body, &e) != nil || e.Code == "" || len(e.Code) > 64 || strings.Trim(e.Code, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return ", " + e.Code
}
