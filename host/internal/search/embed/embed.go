package embed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/answer"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
)

// KeyPlace, in a header's value, is where the key goes. Where no header has it,
// the key goes into Authorization.
const KeyPlace = "${" + keyName + "}"

const keyName = "apiKey"

// What one request carries, and what an answer may.
const (
	MaxTexts  = 64
	MaxBytes  = 512 << 10
	maxAnswer = 64 << 20
)

// An Endpoint is an API that makes vectors.
type Endpoint struct {
	URL     string
	Key     secret.Text // may be none
	Headers map[string]string
	Shape   *Shape
}

// A Maker describes requests for vectors: an [Endpoint], or a plugin.
type Maker interface {
	// Batch is how many of texts, from the first, go into one request.
	Batch(texts []string) int
	// Describe returns the request for the vectors of texts, and what reads them out
	// of its answer. It returns [ErrBatch] where fewer texts may do; other errors are
	// [*Error]s, or that of ctx.
	Describe(ctx context.Context, texts []string) (*outbound.Request, *answer.Vectors, error)
}

// An Opener returns what describes requests, and what lets it go. An error's text is
// for the client; it goes on from what makes the vectors.
type Opener func(context.Context) (Maker, func(), error)

// Plugins make vectors for sources other than rest. Package chat has them.
type Plugins interface {
	// Manifest is that of the plugin which answers source; nil: none does.
	Manifest(source string) *abi.Manifest
	// CanEmbed reports why no vectors come from source, nil where a plugin makes them;
	// the error goes on from "the source". names are the sources that there are instead.
	CanEmbed(source string) (names []string, err error)
	// OpenEmbedder returns what describes requests of e, and what lets its plugin go. An
	// error is a sentence's part that goes on from the embedder's name, or that of ctx.
	OpenEmbedder(ctx context.Context, e PluginEmbedder) (Maker, func(), error)
}

// A PluginEmbedder is what is asked of a plugin that makes vectors.
type PluginEmbedder struct {
	Owner      string // whose calls may share what the plugin keeps
	Source     string
	BaseURL    string
	Model      string // empty: the plugin's first
	Dimensions int    // of the vectors; 0: as many as the model makes
	InputType  string // of the texts, such as abi.InputQuery
	Key        secret.Text
	Options    map[string]json.RawMessage
	Secrets    map[string]secret.Text // options that are secret
}

// ErrBatch says that texts are too many for one request.
var ErrBatch = errors.New("the texts are too many for one request")

// A Client asks endpoints. Safe for concurrent use.
type Client struct {
	Upstream outbound.Sender
	// Pause is waited before the second try, twice as long before each one
	// after; default 1 s.
	Pause time.Duration
}

// maxPause bounds what is waited before one try, whatever an API asks for.
const maxPause = time.Minute

// An Error says why there are no vectors.
type Error struct {
	Message string // safe to show to a client: nothing of an answer, no secret
	Err     error
	again   bool // it may be well in a moment
	after   time.Duration
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// numberSize is what a number of a vector takes in an answer, in bytes: itself, and as text.
const numberSize = 16

// Embed returns a vector of each text, of dims numbers, 0: of as many as the first
// one has. A request that fails for a reason that may pass is sent at most tries
// times. An error is an [*Error], that of ctx, or of its loan of memory.
func (c *Client) Embed(ctx context.Context, m Maker, dims int, texts []string, tries int) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := m.Batch(texts)
		vs, err := c.persist(ctx, m, texts[:n], tries)
		for ; errors.Is(err, ErrBatch) && n > 1; vs, err = c.persist(ctx, m, texts[:n], tries) {
			n = min(n/2, m.Batch(texts))
		}
		if err != nil {
			return nil, err
		}
		if dims = cmp.Or(dims, len(vs[0])); len(vs[0]) != dims {
			return nil, &Error{Message: fmt.Sprintf("the answer has vectors of %d numbers; expected %d", len(vs[0]), dims)}
		}
		if len(out) == 0 { // of all, now that it is known how long they are
			if err := memory.Of(ctx).TakeAnswer(numberSize * dims * len(texts)); err != nil {
				return nil, err
			}
		}
		out = append(out, vs...)
		texts = texts[n:]
	}
	return out, nil
}

// Batch implements [Maker].
func (e *Endpoint) Batch(texts []string) int {
	if !e.Shape.Many() {
		return 1
	}
	return Batch(texts, MaxTexts, MaxBytes)
}

// Batch is how many of texts, from the first, go into one request that takes so many
// texts and bytes; at least one.
func Batch(texts []string, most, bytes int) (n int) {
	size := 0
	for _, t := range texts[:min(len(texts), most)] {
		if size += len(t); n > 0 && size > bytes {
			break
		}
		n++
	}
	return n
}

// persist sends one request until it is answered.
func (c *Client) persist(ctx context.Context, m Maker, texts []string, tries int) ([][]float32, error) {
	pause := cmp.Or(c.Pause, time.Second)
	for try := 1; ; try++ {
		vs, err := c.send(ctx, m, texts)
		if err == nil {
			return vs, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		failure, ok := errors.AsType[*Error](err)
		if !ok || !failure.again || try >= tries {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(min(max(pause, failure.after), maxPause)):
		}
		pause *= 2
	}
}

// send sends one request.
func (c *Client) send(ctx context.Context, m Maker, texts []string) ([][]float32, error) {
	out, vectors, err := m.Describe(ctx, texts)
	if err != nil {
		return nil, err
	}
	resp, err := c.Upstream.Do(ctx, out)
	if err != nil {
		failure := &Error{Message: "the embedder was not reached", Err: err}
		if u, ok := errors.AsType[*outbound.Error](err); ok {
			switch u.Kind {
			case outbound.Refused, outbound.Unauthorized: // before anything was sent to the URL
				failure.Message += ": " + u.Message
			default:
				// The same whatever the cause: who chooses the URL must not learn
				// from it which ports are open.
				failure.Message += "; the host's log has the cause"
				failure.again = u.Kind != outbound.TooLong
			}
		}
		return nil, failure
	}
	defer resp.Close()
	body := resp.Body(maxAnswer)
	if failure := refused(resp); failure != nil {
		return nil, failure
	}
	vs, err := vectors.Read(body, len(texts))
	if err != nil {
		// An answer that broke off looks so as well.
		return nil, &Error{Message: "the embedder's answer " + err.Error(), again: !json.Valid(body)}
	}
	return vs, nil
}

// Describe implements [Maker].
func (e *Endpoint) Describe(_ context.Context, texts []string) (*outbound.Request, *answer.Vectors, error) {
	body, err := e.Shape.Body(texts)
	if err != nil {
		return nil, nil, err
	}
	out, err := e.outbound(body)
	return out, e.Shape.response, err
}

// outbound describes a request. The body goes as text: an object would be
// looked through for placeholders, and a document may hold what looks like one.
func (e *Endpoint) outbound(body []byte) (*outbound.Request, error) {
	text, err := json.Marshal(string(body))
	if err != nil {
		return nil, fmt.Errorf("encode body: %w", err)
	}
	headers := maps.Clone(e.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	headers["Content-Type"] = "application/json"
	out := &outbound.Request{BaseURL: e.URL, Grants: abi.Grants{HTTP: []string{abi.GrantBaseURL}, Secrets: []string{keyName}}}
	if !e.Key.IsZero() {
		out.Secrets = map[string]string{keyName: e.Key.Reveal()}
		placed := false
		for name, value := range headers {
			placed = placed || strings.Contains(value, KeyPlace) || strings.EqualFold(name, "Authorization")
		}
		if !placed {
			headers["Authorization"] = "Bearer " + KeyPlace
		}
	}
	out.Encoded = &abi.EncodeResponse{Method: http.MethodPost, URL: e.URL, Headers: headers, Body: abi.RawJSON(text)}
	return out, nil
}

// refused is the error of an answer that is none.
func refused(resp outbound.Response) *Error {
	status := resp.Status()
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return &Error{Message: fmt.Sprintf("the embedder refused the key (%d): set `apiKey` of the embedder again", status)}
	case status == http.StatusTooManyRequests || status >= 500:
		after, _ := strconv.Atoi(resp.Header().Get("Retry-After"))
		return &Error{Message: fmt.Sprintf("the embedder answered %d", status), again: true, after: time.Duration(min(max(after, 0), 3600)) * time.Second}
	}
	return &Error{Message: fmt.Sprintf("the embedder answered %d: check `url` and `request`, or `model`, of the embedder", status)}
}
