package httpapi

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// A forwarder sends requests to the leader of the cluster. It sends each once: a
// client that tries again by itself would write twice.
type forwarder struct {
	client  http.Client
	patient http.Client // for what compiles modules before it answers
}

// forwardHead is how long the leader may take for the head of its answer, once it
// has the request.
const (
	forwardHead = 30 * time.Second
	patientHead = 5 * time.Minute
)

// newForwarder returns that of a node that listens by own, nil for plain HTTP.
func newForwarder(own *tls.Config) *forwarder {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if own != nil { // a leader may let in nobody without a certificate
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			now, err := own.GetConfigForClient(nil)
			if err != nil {
				return nil, err
			}
			return &now.Certificates[0], nil
		}
	}
	return &forwarder{newLeaderClient(c, forwardHead), newLeaderClient(c, patientHead)}
}

func newLeaderClient(c *tls.Config, head time.Duration) http.Client {
	return http.Client{
		Transport: &http.Transport{
			TLSClientConfig:       c,
			DialContext:           (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			TLSHandshakeTimeout:   5 * time.Second,
			ResponseHeaderTimeout: head,
			IdleConnTimeout:       30 * time.Second,
			MaxIdleConnsPerHost:   32,
			DisableCompression:    true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// maxForwarded bounds the answer of a leader.
const maxForwarded = 64 << 20

// perHop are headers that are of one connection, or that this host sets itself.
var perHop = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true,
	"Upgrade": true, "Host": true, "Content-Length": true, "Accept-Encoding": true, "Expect": true, "Date": true, "Server": true,
}

// ofClient are headers with what only this host is to know, where it vouches for the client.
var ofClient = map[string]bool{"Authorization": true, "Api-Key": true, "X-Api-Key": true}

// errTermEnded is why a leader is not waited for any more.
var errTermEnded = errors.New("the leader that has the request leads no more")

// termGrace is how long a leader may take to answer once the next term has begun: one that
// hands over answers what it has under way.
const termGrace = time.Second

// forwardWrite has the leader of term, at url, answer r, a write, with the caller's own rights,
// and waits until this node has what the answer knows. A leader that hangs is waited for
// until the next term: then the log says whether the write counts.
func (s *Server) forwardWrite(r *call, rt *route, url string, term uint64) error {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	s.forwarded.Add(1)
	go func() {
		if s.Cluster.TermEnds(ctx, term) != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(termGrace):
			cancel(errTermEnded)
		}
	}()
	v := s.newVoucher(r, term)
	seq, err := s.passOn(ctx, r, url, v)
	if e, ok := errors.AsType[*apierr.Error](err); ok && e.Code == apierr.ClusterUnknown && v.code != "" && rt.makesTask() {
		return s.askLog(r, term, v, e)
	}
	if err != nil || seq == 0 {
		return err
	}
	wait, done := context.WithTimeout(ctx, seqWait)
	defer done()
	// Where this node is slow, the header lets the client wait elsewhere.
	_ = s.Cluster.WaitFor(wait, seq, false, "")
	return nil
}

// askWait is how long a leader may take to answer what this node could answer, too.
const askWait = 2 * time.Second

// askLeader has the leader at url answer r, which only reads. It reports false, and
// has done nothing, where the leader does not: this node answers then.
func (s *Server) askLeader(r *call, url string, term uint64) bool {
	if url == "" || r.Get(headerHop) != "" {
		return false
	}
	ctx, cancel := context.WithTimeout(s.ctx, askWait)
	defer cancel()
	_, err := s.passOn(ctx, r, url, s.newVoucher(r, term))
	return err == nil
}

// nextTerm is how long the next term is waited for once a leader broke off.
const nextTerm = 8 * time.Second

// askLog answers r, which the leader of term has not answered, by what the log has of it once
// that term is over. A leader refuses what comes for an earlier term, so what is not there
// never will be. Where the term goes on, the error is unknown.
func (s *Server) askLog(r *call, term uint64, v voucher, unknown error) error {
	ctx, cancel := context.WithTimeout(s.ctx, nextTerm)
	defer cancel()
	if s.Cluster.TermEnds(ctx, term) != nil {
		return unknown
	}
	t, ok, err := s.Tasks.ByOrigin(s.ctx, v.origin)
	if err != nil {
		return errors.Join(unknown, err)
	}
	if !ok {
		return noLeader()
	}
	sum := t.Summary()
	return r.Answer(http.StatusAccepted, taskapi.NewSummary(&sum))
}

// makesTask reports whether a request of the route that is accepted is a task, of which it
// answers the summary.
func (rt *route) makesTask() bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(rt.path, "/"), "/")
	switch first {
	case "indexes", "swap-indexes", "tasks", "dumps", "snapshots", "export":
		return rt.isWrite() && rt.id != "addFiles" // whose answer has more
	}
	return false
}

// passOn has the leader at url answer r, and returns up to which message of the log
// the answer knows; 0: it does not say.
func (s *Server) passOn(ctx context.Context, r *call, url string, v voucher) (seq uint64, err error) {
	raw, err := r.OpenRaw()
	if err != nil {
		return 0, err
	}
	body := &lentBody{r: raw}
	defer body.takeBack()
	req, err := http.NewRequestWithContext(ctx, strings.Clone(r.Method()), url+strings.Clone(r.OriginalURL()), io.NopCloser(body))
	if err != nil {
		return 0, fmt.Errorf("make request to the leader: %w", err)
	}
	req.ContentLength = int64(r.Request().Header.ContentLength())
	vouched := v.code != ""
	switch {
	case vouched && req.Method != http.MethodGet:
		req.Body, req.ContentLength = io.NopCloser(s.frameBody(&v, body)), -1
	case req.ContentLength == 0:
		req.Body = nil
	}
	for k, value := range r.Request().Header.All() {
		if name := http.CanonicalHeaderKey(string(k)); !perHop[name] && !(vouched && ofClient[name]) {
			req.Header.Add(name, string(value))
		}
	}
	a, _ := accessOf(r.Ctx)
	req.Header.Set(headerHop, "1")
	if vouched {
		req.Header.Set(headerHop, v.String())
	}
	req.Header.Set(fiber.HeaderXRequestID, a.id)
	client := &s.leader.client
	if strings.HasPrefix(req.URL.Path, "/plugins/") {
		client = &s.leader.patient
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, forwardFailed(cmp.Or(context.Cause(ctx), err))
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxForwarded+1))
	if err == nil && len(answer) > maxForwarded {
		err = fmt.Errorf("it is longer than %d bytes", maxForwarded)
	}
	if err != nil {
		return 0, unknownWrite(fmt.Errorf("read the leader's answer: %w", err))
	}
	r.Status(resp.StatusCode)
	for name, values := range resp.Header {
		if perHop[name] || strings.HasPrefix(name, "Access-Control-") || name == "X-Request-Id" || name == fiber.HeaderVary {
			continue
		}
		for _, v := range values {
			r.Response().Header.Add(name, v)
		}
	}
	r.Response().SetBodyRaw(answer)
	_, seq, _ = parseSeq(resp.Header.Get(headerSeq))
	return seq, nil
}

// forwardFailed says what became of a request that the leader did not answer: one
// that did not get there changed nothing.
func forwardFailed(err error) error {
	if e, ok := errors.AsType[*apierr.Error](err); ok { // of the body
		return e
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		e := noLeader()
		e.Err = err
		return e
	}
	if why := refusedTLS(err); why != nil {
		e := noLeader()
		e.Err, e.Message = err, fmt.Sprintf("This node cannot reach the leader of the cluster over TLS; nothing was changed: %v.", why)
		return e
	}
	return unknownWrite(err)
}

// refusedTLS says why there is no TLS connection to the leader, so that it has nothing of the
// request; nil: there is one, or another reason.
func refusedTLS(err error) error {
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("this machine does not trust the leader's certificate, %w", e.Err)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" && strings.Contains(op.Err.Error(), "certificate") {
		return fmt.Errorf("the leader refuses this node's certificate, %w", op.Err)
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return fmt.Errorf("the leader does not speak TLS, %w", http.ErrSchemeMismatch)
	}
	return nil
}

func unknownWrite(err error) *apierr.Error {
	return &apierr.Error{Code: apierr.ClusterUnknown, Err: err, Message: "The leader of the cluster did not answer: the write may count, or it may not. Read whether it does before you send it again."}
}

// A lentBody is the body of a request that another goroutine reads, which may do
// so behind the answer: not once it is taken back.
type lentBody struct {
	mu   sync.Mutex
	r    io.Reader
	gone bool
}

// Read implements [io.Reader].
func (b *lentBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return 0, io.ErrClosedPipe
	}
	return b.r.Read(p)
}

func (b *lentBody) takeBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = true
}
