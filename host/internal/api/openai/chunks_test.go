package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat"
)

// frames keeps what it is given.
type frames struct{ bytes.Buffer }

func (f *frames) WriteFrames(b []byte, _ bool) error { _, err := f.Write(b); return err }

func (f *frames) split() []string {
	return strings.Split(strings.TrimSuffix(f.String(), "\n\n"), "\n\n")
}

func newChunks() (*openai.Chunks, *frames) {
	f := &frames{}
	c := openai.NewChunks(f, false)
	c.Begin(chat.Head{Created: 1_790_000_000, Model: "some-model-2026"})
	return c, f
}

func TestChunksOuter(t *testing.T) {
	const standing = 4 << 10 // from which on members are of one chunk alone
	outer := func(object string) func(*openai.Chunks) {
		return func(c *openai.Chunks) { c.Outer([]byte(object)) }
	}
	text := func(s string) func(*openai.Chunks) {
		return func(c *openai.Chunks) { c.Text(chat.Content, []byte(s), nil) }
	}
	big := `"` + strings.Repeat("x", standing) + `"`
	type steps = []func(*openai.Chunks)
	tests := []struct {
		name  string
		steps steps
		want  []string // in each chunk, in turn
		not   string
	}{
		{
			"of the chunk: in each",
			steps{outer(`{"chunk":{"service_tier":"flex"}}`), text("a"), text("b")},
			[]string{`"service_tier":"flex","choices":`, `"service_tier":"flex","choices":`, `"service_tier":"flex","choices":`, `"service_tier":"flex","choices":[],"usage"`},
			"",
		},
		{
			"of the choice: in the next",
			steps{outer(`{"choice":{"logprobs":{"content":[1]},"x":2}}`), text("a"), text("b")},
			[]string{`"content":"a"},"logprobs":{"content":[1]},"x":2,"finish_reason":null}]}`, `"content":"b"},"finish_reason":null}]}`, `"finish_reason":"stop"`, `"usage"`},
			"",
		},
		{
			"of a round that was left: in none",
			steps{outer(`{"choice":{"x":2}}`), func(c *openai.Chunks) { c.BeginRound() }, text("a")},
			[]string{`"content":"a"},"finish_reason":null}]}`, `"finish_reason":"stop"`, `"usage"`},
			`"x":2`,
		},
		{
			"two choices without a delta",
			steps{outer(`{"choice":{"x":1}}`), outer(`{"choice":{"x":2}}`)},
			[]string{`"content":""},"x":1,`, `},"x":2,"finish_reason":"stop"`, `"usage"`},
			"",
		},
		{
			"others in their place",
			steps{outer(`{"chunk":{"citations":["a"]}}`), text("a"), outer("{\"chunk\":{\"citations\":[\n\"b\"]}}"), text("b")},
			[]string{`"citations":["a"]`, `"citations":[ "b"]`, `"citations":[ "b"]`, `"citations":[ "b"]`},
			"",
		},
		{
			"the host's own",
			steps{outer(`{"chunk":{"id":"x","\u0069d":"x","choices":"x","error":{"x":1},"usage":null},"choice":{"finish_reason":"x","delta":"x","index":"x","message":"x"}}`), text("a")},
			[]string{`"content":"a"},"finish_reason":null`, `"finish_reason":"stop"`, `"usage"`},
			`"x"`,
		},
		{
			"large: in the next alone",
			steps{outer(`{"chunk":{"big":` + big + `}}`), text("a"), text("b")},
			[]string{big, `"content":"b"`, `"stop"`, `"usage"`},
			"",
		},
		{"empty", steps{outer(`{"chunk":{},"choice":{}}`), outer(`{}`), outer(`{"chunk":1,"choice":[]}`), text("a")}, []string{`"content":"a"`, `"stop"`, `"usage"`}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, f := newChunks()
			for _, step := range tt.steps {
				step(c)
			}
			c.Finish(&chat.Finish{Reason: "stop", Usage: &abi.Usage{}})
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
			got := f.split()
			if len(got) != len(tt.want)+1 || tt.not != "" && strings.Contains(f.String(), tt.not) {
				t.Fatalf("frames\n%s\nwant %d and [DONE], and %q not in them", f.String(), len(tt.want), tt.not)
			}
			for i, want := range tt.want {
				if !json.Valid([]byte(strings.TrimPrefix(got[i], "data: "))) || strings.Count(got[i], "\n") > 0 || !strings.Contains(got[i], want) {
					t.Errorf("frame %d is %s, want JSON on one line with %s", i, got[i], want)
				}
				if i > 0 && len(got[i]) > standing {
					t.Errorf("frame %d has %d bytes", i, len(got[i]))
				}
			}
		})
	}
}

// TestChunksCalls: reports and calls of the client's are numbered together, and what
// is said of a call goes into its first chunk, on one line.
func TestChunksCalls(t *testing.T) {
	c, f := newChunks()
	c.Report("_meiliSearchProgress", []byte(`{"call_id":"x"}`))
	c.ToolStart("cmine", "mine", []byte("{\"x\"\n:\r1}"))
	c.ToolArguments(0, []byte(`{"a":1}`))
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_`,
		`"delta":{"tool_calls":[{"index":1,"id":"cmine","type":"function","function":{"name":"mine","arguments":""},"x" : 1}]}`,
		`"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"a\":1}"}}]}`,
	}
	got := f.split()
	for i, w := range want {
		if len(got) != len(want) || !strings.Contains(got[i], w) {
			t.Fatalf("frames\n%s\nwant %d, with %s in frame %d", f.String(), len(want), w, i)
		}
	}
}

func TestChunkAllocatesNothing(t *testing.T) {
	c, f := newChunks()
	f.Grow(64 << 20)
	c.ToolStart("c", "mine", nil)
	text, extra, piece := []byte("Hel\"lo wörld\n"), []byte(`{"a":1}`), []byte(`{"a":`)
	model := []byte("some-model-2026")
	allocs := testing.AllocsPerRun(1000, func() {
		c.Responding(model)
		c.Text(chat.Content, text, extra)
		c.Text(chat.Reasoning, text, nil)
		c.ToolArguments(0, piece)
	})
	if err := c.Flush(); err != nil { // its buffer is one of a pool, which gives none now and then under the race detector
		t.Fatal(err)
	}
	if allocs != 0 {
		t.Errorf("%v allocations for the chunks of an event, want 0", allocs)
	}
}

func BenchmarkChunk(b *testing.B) {
	for _, bb := range []struct{ name, text string }{
		{"5", " word"}, {"20", " some text in ASCII."}, {"20utf8", " größere Stückzahl é"}, {"200", strings.Repeat("Twenty bytes of it. ", 10)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := openai.NewChunks(nowhere{}, false)
			c.Begin(chat.Head{Model: "some-model-2026"})
			text := []byte(bb.text)
			b.ReportAllocs()
			for b.Loop() {
				c.Text(chat.Content, text, nil)
				if err := c.Flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestWholeAllocates: what a whole answer costs does not grow with its words.
func TestWholeAllocates(t *testing.T) {
	if testing.Short() {
		t.Skip("counts allocations, to which the race detector adds")
	}
	finish := &chat.Finish{Reason: "stop", Usage: &abi.Usage{Prompt: 1}}
	word := []byte(" word")
	allocs := testing.AllocsPerRun(100, func() {
		c := openai.NewCompletion()
		c.Begin(chat.Head{Model: "some-model-2026"})
		for range 64 {
			c.Text(chat.Content, word, nil)
		}
		c.Finish(finish)
		_ = c.Body()
	})
	if allocs > 8 {
		t.Errorf("%v allocations for a whole answer of 64 words, want at most 8", allocs)
	}
}

// BenchmarkWhole puts answers of so many words together.
func BenchmarkWhole(b *testing.B) {
	for _, bb := range []struct {
		name  string
		words int
	}{{"64", 64}, {"1000", 1000}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := openai.NewCompletion()
				c.Begin(chat.Head{Model: "some-model-2026"})
				for range bb.words {
					c.Text(chat.Content, []byte(" word"), nil)
					if err := c.Flush(); err != nil {
						b.Fatal(err)
					}
				}
				c.Finish(&chat.Finish{Reason: "stop", Usage: &abi.Usage{Prompt: 1}})
				_ = c.Body()
			}
		})
	}
}

type nowhere struct{}

func (nowhere) WriteFrames([]byte, bool) error { return nil }

// FuzzRecords has sinks written by anything that a guest may answer: frames are JSON
// on one line, a whole answer is JSON with the same text, and nothing panics.
func FuzzRecords(f *testing.F) {
	text := func(s string) []byte { return abi.AppendRecord(nil, abi.RecordText, s) }
	f.Add(text("hello"))
	f.Add(abi.AppendToolArguments(abi.AppendToolStart(nil, 0, "i", "n"), 0, "{}"))
	f.Add(abi.AppendRecord(text("x"), abi.RecordExtra, `{"a":[1]}`))
	f.Add(abi.AppendRecord(text("x"), abi.RecordExtra, `{"tool_calls":[{"index":0,"x":1}],"content":1,"refusal":"r","annotations":[{}]}`))
	f.Add(abi.AppendRecord(abi.AppendUsage(nil, abi.Usage{Prompt: 1}, nil), abi.RecordError, `{"kind":"auth","message":"m"}`))
	f.Add(abi.AppendResponse(nil, "id", "mo\"del"))
	f.Add(append(abi.AppendRecord(nil, abi.RecordOuter, `{"chunk":{"a":1},"choice":{"logprobs":{"content":[1]}}}`), text("x")...))
	f.Fuzz(func(t *testing.T, b []byte) {
		out := &frames{}
		whole := openai.NewCompletion()
		for _, s := range []chat.Sink{openai.NewChunks(out, false), whole} {
			if err := chat.Replay(t.Context(), canned(b), ended{}, s); err != nil {
				t.Fatal(err)
			}
		}
		var said strings.Builder
		for _, frame := range out.split() {
			data, ok := strings.CutPrefix(frame, "data: ")
			if data == "[DONE]" {
				continue
			}
			if !ok || !json.Valid([]byte(data)) || !utf8.ValidString(data) || strings.ContainsAny(data, "\r\n") {
				t.Errorf("frame %q", frame)
			}
			said.WriteString(contentOf(data))
		}
		body := string(whole.Body())
		if !json.Valid([]byte(body)) || !utf8.ValidString(body) || strings.ContainsAny(body, "\r\n") {
			t.Errorf("whole answer %q", body)
		}
		if bytes.Contains(b, []byte("content")) {
			return // the guest's own members say it twice
		}
		if got := contentOf(body); got != said.String() {
			t.Errorf("the whole answer says %q, the chunks %q", got, said.String())
		}
	})
}

// contentOf is the text of a chunk or a completion.
func contentOf(body string) string {
	type message struct{ Content any }
	var c struct {
		Choices []struct{ Delta, Message message }
	}
	_ = json.Unmarshal([]byte(body), &c)
	var text strings.Builder
	for _, choice := range c.Choices {
		for _, m := range []message{choice.Delta, choice.Message} {
			s, _ := m.Content.(string)
			text.WriteString(s)
		}
	}
	return text.String()
}

// canned is a plugin whose decode calls answer these records.
type canned []byte

func (canned) Manifest() *abi.Manifest { return &abi.Manifest{Name: "canned", Source: "canned"} }

func (canned) Encode(context.Context, *abi.EncodeRequest) (*abi.EncodeResponse, error) {
	return nil, nil
}

func (c canned) Decode(_ context.Context, _, dst []byte) ([]byte, error) {
	return append(append(dst, 0, 0, 0, 0), c...), nil
}

func (canned) Error(context.Context, *abi.ErrorRequest) (*abi.ProviderError, error) {
	return &abi.ProviderError{Kind: "upstream", Message: "m"}, nil
}

// ended is a response without an event.
type ended struct{}

func (ended) Status() int                { return http.StatusOK }
func (ended) Header() http.Header        { return nil }
func (ended) Next() ([]abi.Event, error) { return nil, io.EOF }
func (ended) Body(int64) []byte          { return nil }
func (ended) Close() error               { return nil }

// TestChunksFail: an error of /chats has an id and a link, one of /v1 is OpenAI's.
func TestChunksFail(t *testing.T) {
	e := apierr.Newf(apierr.BadRequest, "No \"such\" thing.")
	for plain, want := range map[bool]string{
		false: `","type":"error","error":{"type":"invalid_request","code":"bad_request","message":"No \"such\" thing.","param":null},"link":"`,
		true:  `data: {"error":{"message":"No \"such\" thing.","type":"invalid_request_error","param":null,"code":"invalid_value"}}`,
	} {
		f := &frames{}
		c := openai.NewChunks(f, plain)
		c.Fail(e)
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(f.String(), want) || !strings.HasSuffix(f.String(), "\n\ndata: [DONE]\n\n") {
			t.Errorf("frames %s\nwant %s", f.String(), want)
		}
	}
}
