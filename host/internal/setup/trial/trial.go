// Package trial tries plugins as a host would use them: it runs recordings through providers, texts
// through guards, and holds modules to the contract.
package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/framing"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/conformance"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// A Recording is a response body to run through a provider plugin.
type Recording struct {
	Status int // HTTP status; 0 is 200
	Header http.Header
	Body   []byte
	// BaseURL is the workspace's, for plugins that choose by it how a response
	// is framed.
	BaseURL string
	// Rechunk hands the body over in pieces of at most that many bytes, cut at
	// places that Seed decides; 0: all at once.
	Rechunk int
	Seed    uint64
}

// ReadRecording reads the folder of one recorded answer, as --chat-record-dir
// has them, and returns the source that gave it.
func ReadRecording(dir string) (rec Recording, source string, err error) {
	var c upstream.RecordedCase
	b, err := os.ReadFile(filepath.Join(dir, upstream.RecordingCase))
	if err != nil {
		return rec, "", fmt.Errorf("read recording: %w", err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return rec, "", fmt.Errorf("read recording %s: %w", filepath.Join(dir, upstream.RecordingCase), err)
	}
	rec = Recording{Status: c.Status, Header: http.Header{}, BaseURL: c.BaseURL}
	for name, v := range c.Headers {
		rec.Header.Set(name, v)
	}
	if rec.Body, err = os.ReadFile(filepath.Join(dir, upstream.RecordingBody)); err != nil {
		return rec, "", fmt.Errorf("read recording: %w", err)
	}
	return rec, c.Source, nil
}

// A Replayer runs recordings through the plugin of one source, exactly as a
// host would. Close it after use.
type Replayer struct {
	// Strict has instances reset after each call, and not only between answers:
	// what a plugin keeps from call to call, which it must not need, is lost.
	Strict bool

	runtime *wasm.Runtime
	plugins *plugin.Set
	name    string // of the source
}

// OpenReplayer loads modules, in the first that answers source. Of t it heeds
// Compiler and CacheDir.
func OpenReplayer(ctx context.Context, source string, t Options, modules ...[]byte) (_ *Replayer, err error) {
	runtime, err := wasm.Open(wasm.Options{CacheDir: t.CacheDir, Aside: t.Compiler})
	if err != nil {
		return nil, err
	}
	r := &Replayer{runtime: runtime, plugins: plugin.NewSet(runtime, plugin.Options{}), name: source}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, m := range modules {
		if _, err := r.plugins.Add(ctx, m, "replay"); err != nil {
			return nil, err
		}
	}
	if _, ok := r.plugins.Source(provider.Wish{Source: source}); !ok {
		return nil, fmt.Errorf("no plugin answers source %q: there are %s", source, strings.Join(r.plugins.SourceNames(), ", "))
	}
	return r, nil
}

// Close lets the plugins go.
func (r *Replayer) Close() error { return errors.Join(r.plugins.Close(), r.runtime.Close()) }

// Fuel returns what the plugins have spent in all calls and starts, in units of
// the meter, the same on every machine.
func (r *Replayer) Fuel() (spent int64) {
	for _, p := range r.plugins.Providers() {
		spent += p.Stats().Fuel
	}
	return spent
}

// Answer returns the plugin for the calls of one answer.
func (r *Replayer) Answer() provider.Source {
	if r.Strict {
		s, _ := r.plugins.Source(provider.Wish{Source: r.name})
		return s // whose calls belong to no answer
	}
	s, release, _ := r.plugins.Acquire(context.Background(), provider.Wish{Source: r.name}, provider.Client{}) // which [OpenReplayer] found
	release()                                                                                                  // the set keeps it until r is closed
	return s
}

// Chunks writes the frames that a client would see.
func (r *Replayer) Chunks(ctx context.Context, rec Recording, w io.Writer) error {
	source := r.Answer()
	return chat.Replay(ctx, source, newRecorded(rec, framingOf(ctx, source, rec)), openai.NewChunks(frameWriter{w}, false))
}

// Aggregate returns what a client has at the end: a [response.Aggregate],
// or a [response.Failure] for a response that is not a success. What breaks a rule of
// the contract is returned with an error.
func (r *Replayer) Aggregate(ctx context.Context, rec Recording) (any, error) {
	if rec.Status != 0 && rec.Status/100 != 2 {
		f, err := r.failure(ctx, rec)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	a, source := response.New(), r.Answer()
	recorded := newRecorded(rec, framingOf(ctx, source, rec))
	var state []byte
	for flags := byte(abi.FlagFirst); ; flags = 0 {
		events, err := recorded.Next()
		if errors.Is(err, io.EOF) {
			flags |= abi.FlagLast
		} else if err != nil {
			a.Error = response.NewFailure(0, abi.ProviderError{Kind: abi.ErrorUpstream, Message: err.Error()})
			return a, nil
		}
		out, err := source.Decode(ctx, abi.AppendDecodeInput(nil, state, flags, events), nil)
		if err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		var records []byte
		if state, records, err = abi.DecodeOutput(out); err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		if err := a.Add(records); err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		if flags&abi.FlagLast != 0 {
			a.End()
			if len(a.Broken) > 0 {
				return a, fmt.Errorf("the plugin broke a rule of abi/README.md, section Decode: %s", strings.Join(a.Broken, "; "))
			}
			return a, nil
		}
	}
}

func (r *Replayer) failure(ctx context.Context, rec Recording) (*response.Failure, error) {
	in := abi.ErrorRequest{Status: rec.Status, Headers: map[string]string{}, Body: string(rec.Body)}
	for name, values := range rec.Header {
		in.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	e, err := r.Answer().Error(ctx, &in)
	if err != nil {
		return nil, fmt.Errorf("sort the error: %w", err)
	}
	return response.NewFailure(rec.Status, *e), nil
}

// recorded is a response that was recorded. It is a [outbound.Response].
type recorded struct {
	rec    Recording
	framer *framing.Framer
	rest   []byte
	cuts   *rand.Rand
	ended  bool
}

// framingOf is what the plugin says of its responses when it asks for one; auto
// where it refuses the question.
func framingOf(ctx context.Context, source provider.Source, rec Recording) string {
	m := source.Manifest()
	settings := abi.Settings{BaseURL: rec.BaseURL}
	if manifest.UsesPlaceholders(m) {
		settings.APIKey = abi.PlaceholderAPIKey
	}
	out, err := source.Encode(ctx, &abi.EncodeRequest{
		Settings: settings, Options: conformance.ExampleOptions(m),
		Chat: abi.RawJSON(`{"model":"replay","stream":true,"messages":[{"role":"user","content":"replay"}]}`),
	})
	if err != nil {
		return abi.FramingAuto
	}
	return out.Framing
}

func newRecorded(rec Recording, cut string) *recorded {
	return &recorded{
		rec: rec, rest: rec.Body, cuts: rand.New(rand.NewPCG(rec.Seed, 0)),
		framer: framing.New(framing.Options{Framing: cut, ContentType: rec.Header.Get("content-type")}),
	}
}

func (r *recorded) Status() int         { return r.rec.Status }
func (r *recorded) Header() http.Header { return r.rec.Header }
func (r *recorded) Close() error        { return nil }

func (r *recorded) Body(limit int64) []byte {
	return r.rec.Body[:min(int64(len(r.rec.Body)), limit)]
}

func (r *recorded) Next() ([]abi.Event, error) {
	for len(r.rest) > 0 {
		n := len(r.rest)
		if r.rec.Rechunk > 0 {
			n = min(n, 1+r.cuts.IntN(r.rec.Rechunk))
		}
		piece := r.rest[:n]
		r.rest = r.rest[n:]
		if events, err := r.framer.Feed(piece); err != nil || len(events) > 0 {
			return events, err
		}
	}
	if r.ended {
		return nil, io.EOF
	}
	r.ended = true
	events, err := r.framer.End()
	if err == nil && len(events) == 0 {
		err = io.EOF
	}
	return events, err
}

// frameWriter writes frames to w as they come.
type frameWriter struct{ w io.Writer }

func (f frameWriter) WriteFrames(b []byte, _ bool) error { _, err := f.w.Write(b); return err }

// Options say how a plugin is tried, see [Check], [Measure] and [OpenReplayer].
// The zero value works.
type Options struct {
	// Compiler is a program with its arguments that compiles the module in a process of its own.
	Compiler []string
	// CacheDir keeps compiled code between runs; empty: nowhere.
	CacheDir string
	// Cases is a folder of *.case files: responses and what the plugin must make
	// of them. Empty: none.
	Cases string
	// Body is a response whose events are measured; nil: those of the cases, or
	// of what the host knows of LLM APIs.
	Body []byte
	// Against is the file of a module that a check compares with; empty: none.
	Against string
	// CallTimeout bounds one call; default 2s, as in a host.
	CallTimeout time.Duration
}

// Check holds a module in any language to the contract.
func Check(ctx context.Context, module []byte, t Options) (*conformance.Report, error) {
	o, err := t.options()
	if err != nil {
		return nil, err
	}
	report, err := conformance.Check(ctx, module, o)
	if err != nil || t.Against == "" {
		return report, err
	}
	old, err := os.ReadFile(t.Against)
	if err != nil {
		return nil, fmt.Errorf("read plugin: %w", err)
	}
	report.Against, err = conformance.Compare(ctx, old, module, report, o)
	return report, err
}

// Measure says what a module costs.
func Measure(ctx context.Context, module []byte, t Options) (*conformance.Figures, error) {
	o, err := t.options()
	if err != nil {
		return nil, err
	}
	return conformance.Measure(ctx, module, t.Body, o)
}

func (t Options) options() (o conformance.Options, err error) {
	o.Compiler, o.CacheDir, o.CallTimeout = t.Compiler, t.CacheDir, t.CallTimeout
	if t.Cases != "" {
		o.Cases, err = response.ReadCases(t.Cases)
	}
	return o, err
}
