package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/parley-search/parley/host/internal/base/framing"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/base/secret"
)

// Bounds of what a [Recorder] writes.
const (
	maxRecordings    = 1000     // since the host was started
	maxRecordingBody = 16 << 20 // bytes of one body; the rest is left out
)

// The files of a recording.
const (
	RecordingCase    = "case.json" // written last: a folder without it is not whole
	RecordingBody    = "response.body"
	RecordingRequest = "request.json"
)

// recordedHeaders are the headers of a response that an adapter may look at.
// Others name accounts and are left out.
var recordedHeaders = []string{"Content-Type", "Retry-After", "Retry-After-Ms", "X-Should-Retry", "X-Amzn-Errortype"}

// A RecordedCase is what [RecordingCase] holds.
type RecordedCase struct {
	Source   string            `json:"source"`
	Plugin   string            `json:"plugin"` // name and version
	Kind     string            `json:"kind"`   // stream, or error where the status is not a success
	Status   int               `json:"status"`
	Headers  map[string]string `json:"response_headers"`
	URL      string            `json:"url"`
	BaseURL  string            `json:"base_url,omitempty"`
	Recorded time.Time         `json:"recorded"`
	Cut      bool              `json:"cut,omitempty"` // the body here is not all that there might have been
}

// RecordOptions is how a [Recorder] is made.
type RecordOptions struct {
	Dir        string                          // a folder for every answer is made in it
	Workspaces []string                        // those recorded; none: all
	Failed     func(message string, err error) // told of a recording that could not be written; may be nil
}

// A Recorder writes down what providers answered, with secrets taken out, for
// `parley plugin replay`. A recording that fails never disturbs the answer.
type Recorder struct {
	o    RecordOptions
	left atomic.Int64
}

// NewRecorder makes o.Dir where it is missing, for its owner's eyes alone:
// recordings hold what people asked.
func NewRecorder(o RecordOptions) (*Recorder, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder for recordings: %w", err)
	}
	if o.Failed == nil {
		o.Failed = func(string, error) {}
	}
	r := &Recorder{o: o}
	r.left.Store(maxRecordings)
	return r, nil
}

// A recording is one answer being written down. It is in memory until it ends: only
// all of it shows whether a secret came in pieces.
type recording struct {
	dir     string
	scrub   *secret.Scrubber
	fail    func(string, error)
	framing framing.Options

	mu      sync.Mutex // an answer may be closed while it is read
	what    RecordedCase
	request []byte
	body    []byte
	whole   bool
	ended   bool
}

// begin returns the recording of resp, which url gave and framing cuts into events, or nil
// where there is to be none.
func (r *Recorder) begin(out *outbound.Request, url string, resp *http.Response, framing framing.Options, s *secret.Scrubber) *recording {
	if r == nil || len(r.o.Workspaces) > 0 && !slices.Contains(r.o.Workspaces, out.Workspace) {
		return nil
	}
	switch left := r.left.Add(-1); {
	case left == -1:
		r.o.Failed(fmt.Sprintf("no more provider answers are recorded: there are %d since the start", maxRecordings), nil)
		return nil
	case left < 0:
		return nil
	}
	rec := &recording{
		what: RecordedCase{
			Source: out.Source, Plugin: out.Plugin, Kind: "stream", Status: resp.StatusCode, Headers: map[string]string{},
			URL: url, BaseURL: out.BaseURL, Recorded: time.Now().UTC(),
		},
		scrub: s, fail: r.o.Failed, framing: framing, request: s.Bytes(out.Encoded.Body),
	}
	if resp.StatusCode/100 != 2 {
		rec.what.Kind = "error"
	}
	for _, name := range recordedHeaders {
		if v := resp.Header.Get(name); v != "" {
			rec.what.Headers[strings.ToLower(name)] = v
		}
	}
	workspace := out.Workspace[:min(len(out.Workspace), 64)]
	rec.dir = filepath.Join(r.o.Dir, rec.what.Recorded.Format("20060102T150405.000")+"-"+workspace+"-"+uuid.NewString()[:8])
	return rec
}

// write takes the next bytes of the body and how its reading ended, if it did.
func (rec *recording) write(p []byte, ended error) {
	if rec == nil {
		return
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.whole = rec.whole || ended == io.EOF
	take := p[:min(len(p), maxRecordingBody-len(rec.body))]
	rec.what.Cut = rec.what.Cut || len(take) < len(p)
	rec.body = append(rec.body, take...)
}

// close writes the recording.
func (rec *recording) close() {
	if rec == nil {
		return
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.ended {
		return
	}
	rec.ended = true
	if err := rec.save(); err != nil {
		rec.fail("a provider's answer is not recorded", err)
	}
}

func (rec *recording) save() error {
	rec.clean()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(rec.what); err != nil {
		return err
	}
	if err := os.Mkdir(rec.dir, 0o700); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{RecordingRequest, rec.request}, {RecordingBody, rec.body}, {RecordingCase, rec.scrub.Bytes(text.Bytes())}} {
		if err := os.WriteFile(filepath.Join(rec.dir, f.name), f.data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// clean takes the secrets out of the body. Where one came in pieces, spread over the
// texts of events, the body is cut before the first piece.
func (rec *recording) clean() {
	rec.body = rec.scrub.Bytes(rec.body)
	if !rec.whole {
		rec.what.Cut = true
	}
	if rec.what.Cut {
		rec.body = rec.body[:len(rec.body)-rec.scrub.Begun(rec.body)]
	}
	if at := rec.spread(); at >= 0 {
		rec.body, rec.what.Cut = rec.body[:at], true
	}
}

// spread returns where the first event begins that has a piece of a secret in it, -1 where
// none has.
func (rec *recording) spread() int {
	if rec.scrub == nil {
		return -1
	}
	var begins []int // of events
	texts := map[string]*spreadText{}
	at := 0
	for _, data := range rec.events() {
		if i := bytes.Index(rec.body[at:], data); i >= 0 { // else it came on several lines
			at += i
		}
		begins = append(begins, at)
		add := func(path string, text []byte) {
			t := texts[path]
			if t == nil {
				t = &spreadText{}
				texts[path] = t
			}
			t.pieces = append(t.pieces, spreadPiece{len(t.text), len(begins) - 1})
			t.text = append(t.text, text...)
		}
		if !json.Valid(data) {
			add("", data)
			continue
		}
		rawjson.Walk("data", data, func(path string, v []byte) {
			if s, ok := rawjson.String(v); ok {
				add(path, []byte(s))
			}
		})
	}
	first := -1
	for _, t := range texts {
		from := rec.scrub.Find(t.text)
		if n := rec.scrub.Begun(t.text); from < 0 && rec.what.Cut && n > 0 {
			from = len(t.text) - n
		}
		if from < 0 {
			continue
		}
		i, exact := slices.BinarySearchFunc(t.pieces, from, func(p spreadPiece, from int) int { return p.at - from })
		if !exact {
			i--
		}
		if begin := begins[t.pieces[i].event]; first < 0 || begin < first {
			first = begin
		}
	}
	return first
}

// A spreadText is what the strings at one path of all events say one after the other.
type spreadText struct {
	text   []byte
	pieces []spreadPiece
}

// A spreadPiece is where an event's part of a text begins.
type spreadPiece struct{ at, event int }

// events are those of the body: one where it is an error's.
func (rec *recording) events() (all [][]byte) {
	if rec.what.Kind == "error" {
		return [][]byte{rec.body}
	}
	f := framing.New(rec.framing)
	events, err := f.Feed(rec.body)
	for _, e := range events {
		all = append(all, bytes.Clone(e.Data))
	}
	if err == nil {
		events, _ = f.End() // an error: what came before is all there is
		for _, e := range events {
			all = append(all, e.Data)
		}
	}
	return all
}
