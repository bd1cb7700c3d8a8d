package upstream

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/framing"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// errClosed is why a response that its reader closed ends.
var errClosed = errors.New("the response was closed")

// A response is a [outbound.Response] under way.
type response struct {
	resp    *http.Response
	url     string    // without what signed it
	body    io.Reader // decompressed
	watch   *watch
	framing framing.Options
	framer  *framing.Framer
	scrub   scrubs
	left    int64       // bytes that may still come
	limit   int64       // bytes that might come at first
	head    []abi.Event // waits to be the first event
	err     error       // what Next ends with
	record  *recording
	once    sync.Once
}

// open looks at the head.
func (r *response) open() error {
	status := r.resp.StatusCode
	if status >= 300 && status <= 399 {
		return refused("the provider answered %d, a redirect; none is followed: set baseUrl to where its API is now", status)
	}
	if status == http.StatusSwitchingProtocols {
		return broken("the provider answered 101, which nobody asked for", nil)
	}
	switch e := strings.ToLower(r.resp.Header.Get("Content-Encoding")); e {
	case "", "identity":
		r.body = r.resp.Body
	case "gzip", "x-gzip":
		r.body = &gunzip{from: r.resp.Body}
	default:
		return broken(fmt.Sprintf("the provider's answer is encoded as %.20q, which nobody asked for", e), nil)
	}
	for _, values := range r.resp.Header {
		for i, v := range values {
			values[i] = r.scrub.texts.Text(v)
		}
	}
	return nil
}

// keepHead makes an event of the headers that the plugin asked for in out.
func (r *response) keepHead(out *outbound.Request) {
	if len(out.Encoded.Head) == 0 {
		return
	}
	head := abi.Head{Status: r.resp.StatusCode, Headers: map[string]string{}, Round: out.Round}
	for _, name := range out.Encoded.Head {
		if values := r.resp.Header.Values(name); len(values) > 0 {
			head.Headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
		}
	}
	data, err := json.Marshal(head)
	if err != nil {
		return // it is made of texts
	}
	r.head = []abi.Event{{Type: abi.EventHead, Data: data}}
}

func (r *response) Status() int { return r.resp.StatusCode }

// Header implements [outbound.Response].
func (r *response) Header() http.Header { return r.resp.Header }

// Next implements [outbound.Response]. A body that breaks off gives the events
// before the break first. Secrets are scrubbed from events as far as they stand
// in one event.
func (r *response) Next() ([]abi.Event, error) {
	for r.err == nil {
		n, err := r.readAll()
		events, bad := r.framer.Take(n)
		switch {
		case bad != nil:
			r.err = bad
		case err == io.EOF:
			// What Take found must not be lost to End.
			if len(events) == 0 {
				events, bad = r.framer.End()
				r.err = io.EOF
				if bad != nil {
					r.err = bad
				}
			}
		case err != nil:
			r.err = err
		}
		if len(events) > 0 {
			r.clean(events)
			return r.headed(events), nil
		}
	}
	if r.err == io.EOF && r.head != nil {
		return r.headed(nil), nil
	}
	r.framer.Rest()
	return nil, r.err
}

// aheadLeast is how much has to be there for another read, which must not wait.
const aheadLeast = 1 << 10

// A waiter is a body that can wait without a buffer, and tell what is here already.
type waiter interface {
	Wait()
	Ahead() int
}

// readAll reads into the framer's room what comes next, and more as long as that is
// here already: what is one step for us is one for the plugin, and one write to the
// client. Until something comes there is no room, where the body can wait for it.
func (r *response) readAll() (n int, err error) {
	from, waits := r.body.(waiter)
	r.watch.wait()
	if waits {
		r.framer.Rest()
		from.Wait()
	}
	p := r.framer.Room()
	n, err = r.read(p)
	for waits && err == nil && n < len(p) && from.Ahead() >= aheadLeast {
		var more int
		more, err = r.read(p[n:])
		n += more
	}
	r.watch.pause()
	return n, err
}

// headed puts the event of the head before the first ones of the body.
func (r *response) headed(events []abi.Event) []abi.Event {
	if r.head == nil {
		return events
	}
	all := append(r.head, events...)
	r.head = nil
	return all
}

// clean takes secrets out of events.
func (r *response) clean(events []abi.Event) {
	for i := range events {
		events[i].Data = r.scrub.events.Bytes(events[i].Data)
	}
}

// Body implements [outbound.Response]. It returns what came, even where the body
// broke off, without the secrets.
func (r *response) Body(limit int64) []byte {
	// Where the cut or a break splits a secret, the part before it must not
	// show: so read on by one secret, and give as much away again.
	spare := int64(r.scrub.texts.Longest())
	var b []byte
	whole := false
	for int64(len(b)) < limit+spare && !whole {
		chunk := make([]byte, min(limit+spare-int64(len(b)), 32<<10))
		r.watch.wait()
		n, err := r.read(chunk)
		r.watch.pause()
		b = append(b, chunk[:n]...)
		if err == io.EOF {
			whole = true
		} else if err != nil {
			break
		}
	}
	b = r.scrub.texts.Bytes(b)
	if !whole {
		b = b[:max(int64(len(b))-spare, 0)]
	}
	return b[:min(int64(len(b)), limit)]
}

// read reads from the body, within the limit of its size. It ends with
// io.EOF only where the body ended as it should.
func (r *response) read(p []byte) (int, error) {
	n, err := r.body.Read(p[:min(int64(len(p)), r.left+1)])
	r.record.write(p[:n], err)
	r.left -= int64(n)
	switch {
	case r.left < 0:
		r.left = 0
		return n - 1, &outbound.Error{
			Kind:    outbound.TooLong,
			Message: fmt.Sprintf("the provider's answer is longer than %d bytes", r.limit),
		}
	case err == nil || err == io.EOF:
		return n, err
	}
	return n, r.watch.failure("the provider's answer broke off in the middle", err)
}

// Close implements [outbound.Response]. It closes the connection unless the
// response was read to its end. It is idempotent and may be called while
// another goroutine is in Next, which it ends.
func (r *response) Close() error {
	r.once.Do(func() {
		r.watch.stop()
		r.resp.Body.Close()
		r.record.close()
	})
	return nil
}

// gunzip decompresses a body, from its first read on: the head of a gzip
// stream may be long in coming.
type gunzip struct {
	from io.Reader
	z    *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.from)
		if err != nil {
			return 0, err
		}
		g.z = z
	}
	return g.z.Read(p)
}
