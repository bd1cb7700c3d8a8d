package upstream

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// A payload is the body of a request to a provider. It is let go once it is
// sent: net/http holds on to a request until its response ends, and that may
// stream for minutes.
type payload struct {
	mu     sync.Mutex
	whole  []byte       // nil: let go
	reader bytes.Reader // of net/http's; what is no bytes.Reader it sends apart from the head, by a write more
	again  bool         // it is sent by another reader
	sent   bool         // to its end
	done   bool         // the response is there: nobody asks for it again
}

// attach makes the payload the body of req.
func (p *payload) attach(req *http.Request) {
	if len(p.whole) == 0 {
		return
	}
	p.reader.Reset(p.whole)
	req.ContentLength = int64(len(p.whole))
	req.Body = io.NopCloser(&p.reader)
	req.GetBody = p.open
}

// open returns a new reader of all of it, for a connection that turned out to be
// closed.
func (p *payload) open() (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole == nil {
		return nil, errors.New("the request's body is no longer there")
	}
	p.again = true
	return io.NopCloser(bytes.NewReader(p.whole)), nil
}

// wrote is told when a request was sent, or could not be.
func (p *payload) wrote(w httptrace.WroteRequestInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = p.sent || w.Err == nil
	p.release()
}

// answered says that the response is there. Some come before all is sent.
func (p *payload) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	p.release()
}

// release lets the payload go where nobody needs it any more. Which of several
// readers is through is not known, so that they keep it.
func (p *payload) release() {
	if p.done {
		p.whole = nil
	}
	if p.done && p.sent && !p.again {
		p.reader.Reset(nil)
	}
}
