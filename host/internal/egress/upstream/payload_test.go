package upstream

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"
)

const words = "words of a user, and of another"

// newPayload returns a payload that is the body of a request.
func newPayload(t *testing.T) (*payload, *http.Request) {
	t.Helper()
	req, err := http.NewRequest("POST", "http://127.0.0.1/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	p := &payload{whole: []byte(words)}
	p.attach(req)
	return p, req
}

// left is how many bytes p holds.
func (p *payload) left() int { return len(p.whole) + int(p.reader.Size()) }

// Nothing is held of what was sent and answered, in whatever order.
func TestPayloadReleased(t *testing.T) {
	for name, sentFirst := range map[string]bool{"sent first": true, "answered first": false} {
		t.Run(name, func(t *testing.T) {
			p, req := newPayload(t)
			if req.ContentLength != int64(len(words)) {
				t.Errorf("ContentLength = %d, want %d", req.ContentLength, len(words))
			}
			if !sentFirst {
				p.answered()
			}
			if b, err := io.ReadAll(req.Body); err != nil || string(b) != words {
				t.Errorf("body = %q, %v, want all of it", b, err)
			}
			p.wrote(httptrace.WroteRequestInfo{})
			if sentFirst {
				if p.left() == 0 {
					t.Error("nothing is held before the answer, want what another connection may need")
				}
				p.answered()
			}
			if n := p.left(); n > 0 {
				t.Errorf("%d bytes are held, want none", n)
			}
			if _, err := req.GetBody(); err == nil {
				t.Error("GetBody after the answer gives a body, want an error")
			}
		})
	}
}

// What a second connection sends is not taken away when the first is through
// with it.
func TestPayloadSentAgain(t *testing.T) {
	p, req := newPayload(t)
	p.wrote(httptrace.WroteRequestInfo{Err: errors.New("broken pipe")})
	b, err := req.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	p.wrote(httptrace.WroteRequestInfo{})
	p.answered()
	for name, body := range map[string]io.Reader{"first": req.Body, "second": b} {
		if got, err := io.ReadAll(body); err != nil || string(got) != words {
			t.Errorf("the %s body = %q, %v, want all of it", name, got, err)
		}
	}
}

func TestPayloadEmpty(t *testing.T) {
	req, err := http.NewRequest("GET", "http://127.0.0.1/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if (&payload{}).attach(req); req.Body != http.NoBody || req.ContentLength != 0 {
		t.Errorf("without a payload: body %v, %d bytes, want none", req.Body, req.ContentLength)
	}
}
