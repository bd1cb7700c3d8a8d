package e2e

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/framing"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/sdk/plugintest"
)

// TestRechunk sends every recorded stream, and the SDK's own cases, through the
// real framer, the built module and the renderer: the chunks that a client gets
// are the same, byte for byte, whatever pieces the stream came in and whatever
// ends its lines. (That the framer alone does so at every offset is a test of
// its own.)
func TestRechunk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		plugin, source string
		corpora        []string
	}{
		{"openai", "openAi", []string{"openAi", "other"}},
		{"vllm", "vLlm", []string{"vLlm", "other"}},
	} {
		t.Run(tt.source, func(t *testing.T) {
			cases, err := response.ReadCases(filepath.Join(house.Repository(t), "sdk", "openai", "testdata"))
			if err != nil || len(cases) == 0 {
				t.Fatalf("%d cases, %v", len(cases), err)
			}
			own, err := response.ReadCases(filepath.Join(house.Repository(t), "plugins", "provider", tt.plugin, "testdata"))
			if err != nil {
				t.Fatal(err)
			}
			cases = append(cases, own...)
			for _, corpus := range tt.corpora {
				recorded, err := plugintest.ReadCorpus(corpus)
				if err != nil {
					t.Logf("recordings skipped: %v", err)
				}
				cases = append(cases, recorded...)
			}
			p := newPieces(t, house.Shipped(t, tt.plugin), tt.source)
			streams, runs := 0, 0
			for _, c := range cases {
				if c.Kind != "stream" || !bytes.Contains(c.Body, []byte("data:")) {
					continue // an error, or JSON, whose lines are no lines
				}
				streams++
				t.Run(c.Name, func(t *testing.T) { runs += p.check(t, c.Body) })
			}
			t.Logf("%d streams, %d runs", streams, runs)
		})
	}
}

// pieces is a chat service whose provider sends a body in pieces.
type pieces struct {
	chat *chat.Service
	body []byte
	next func(left int) int // size of the next piece
}

func newPieces(t *testing.T, module []byte, source string) *pieces {
	t.Helper()
	p := &pieces{}
	p.chat, _ = newChat(t, module, source, p, `{"source":"`+source+`","baseUrl":"http://127.0.0.1:1/v1","apiKey":"sk-of-nobody"}`)
	return p
}

// Do implements [outbound.Sender].
func (p *pieces) Do(context.Context, *outbound.Request) (outbound.Response, error) {
	return &piecemeal{left: p.body, next: p.next, framer: framing.New(framing.Options{ContentType: "text/event-stream"})}, nil
}

// check compares the answer to body in many pieces with that to body in one,
// and returns how many it had.
func (p *pieces) check(t *testing.T, body []byte) (runs int) {
	seeds, ends := uint64(3), []string{"\n", "\r\n", "\r"}
	if !house.Long() { // one of them, for each stream another
		seeds, ends = 1, ends[len(body)%len(ends):][:1]
	}
	body = plugintest.LineEnds(body, "\n")
	want := p.answer(t, body, func(left int) int { return left })
	if !strings.Contains(want, "data: ") && !strings.Contains(want, "failed") {
		t.Fatalf("whole: %.300q", want)
	}
	for _, end := range ends {
		body := plugintest.LineEnds(body, end)
		ways := map[string]func(int) int{
			"whole": func(left int) int { return left },
			"bytes": func(int) int { return 1 },
		}
		if !house.Long() && len(body) > 8<<10 {
			delete(ways, "bytes") // a few streams have half of all bytes
		}
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, uint64(len(body))))
			ways["random "+string(rune('0'+seed))] = func(int) int { return 1 + r.IntN(1<<(1+r.IntN(10))) }
		}
		for way, next := range ways {
			runs++
			if got := p.answer(t, body, next); got != want {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				from := max(at-200, 0)
				t.Errorf("%q, %s: differs at %d:\n%.600q\nwant\n%.600q", end, way, at, got[from:], want[from:])
			}
		}
	}
	return runs
}

// own matches what the host makes up anew for each answer.
var own = regexp.MustCompile(`"(?:id":"(?:chatcmpl-|call_)[0-9a-f]{24}"|created":\d+|event_id":"[0-9a-f-]{36}")`)

// answer is all that a client gets to see of body in these pieces.
func (p *pieces) answer(t *testing.T, body []byte, next func(left int) int) string {
	t.Helper()
	p.body, p.next = body, next
	const request = `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream_options":{"include_usage":true}}`
	ctx, cancel := context.WithCancelCause(t.Context())
	q, err := chat.ParseRequest([]byte(request))
	if err != nil {
		t.Fatal(err)
	}
	q.UID, q.Caller = "w", auth.Everyone()
	answer, err := p.chat.Start(ctx, cancel, q)
	if err != nil {
		return "failed: " + err.Error()
	}
	var out house.Frames
	if err := answer.WriteTo(openai.NewChunks(&out, false)); err != nil {
		t.Errorf("WriteTo: %v", err)
	}
	return own.ReplaceAllString(out.String(), "$own")
}

// A piecemeal is a response whose body comes in pieces.
type piecemeal struct {
	left   []byte
	next   func(left int) int
	framer *framing.Framer
	ended  bool
}

func (p *piecemeal) Status() int         { return http.StatusOK }
func (p *piecemeal) Header() http.Header { return http.Header{} }
func (p *piecemeal) Body(int64) []byte   { return nil }
func (p *piecemeal) Close() error        { return nil }

func (p *piecemeal) Next() ([]abi.Event, error) {
	for len(p.left) > 0 {
		n := min(p.next(len(p.left)), len(p.left))
		events, err := p.framer.Feed(p.left[:n])
		p.left = p.left[n:]
		if err != nil {
			return nil, err
		}
		if len(events) > 0 {
			return events, nil
		}
	}
	if p.ended {
		return nil, io.EOF
	}
	p.ended = true
	events, err := p.framer.End()
	if err == nil && len(events) == 0 {
		err = io.EOF
	}
	return events, err
}

var _ outbound.Sender = (*pieces)(nil)

// TestLongBatch hands over in one piece more events than a call of the plugin
// may take: the answer is the same as from many pieces.
func TestLongBatch(t *testing.T) {
	t.Parallel()
	p := newPieces(t, house.Shipped(t, "vllm"), "vLlm")
	body := []byte(strings.Repeat(house.Delta("one "), 40_000) + house.Finish)
	want := p.answer(t, body, func(int) int { return 64 << 10 })
	got := p.answer(t, body, func(left int) int { return left })
	if got != want || !strings.HasSuffix(got, "data: [DONE]\n\n") || strings.Count(got, `"one "`) != 40_000 {
		t.Errorf("%d bytes, ending in %.500q; want %d", len(got), got[max(len(got)-500, 0):], len(want))
	}
}
