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
	"github.com/parley-search/parley/host/internal/outbound"
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

// A recording is one answer being written down.
type recording struct {
	dir   string
	scrub [][]byte
	fail  func(string, error)

	mu    sync.Mutex // an answer may be closed while it is read
	what  RecordedCase
	body  *os.File // nil once it ended
	held  []byte   // the end of what came, which may be the beginning of a secret
	room  int
	whole bool
}

// begin returns the recording of resp, which url gave, or nil where there is to be none.
func (r *Recorder) begin(out *outbound.Request, url string, resp *http.Response, s scrubber) *recording {
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
		scrub: s.all, room: maxRecordingBody, fail: r.o.Failed,
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
	if err := rec.open(out.Encoded.Body); err != nil {
		r.o.Failed("a provider's answer is not recorded", err)
		return nil
	}
	return rec
}

func (rec *recording) open(request []byte) (err error) {
	if err := os.Mkdir(rec.dir, 0o700); err != nil {
		return err
	}
	request, _ = replaceAll(request, rec.scrub)
	if err := os.WriteFile(filepath.Join(rec.dir, RecordingRequest), request, 0o600); err != nil {
		return err
	}
	rec.body, err = os.OpenFile(filepath.Join(rec.dir, RecordingBody), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return err
}

// write takes the next bytes of the body and how its reading ended, if it did.
func (rec *recording) write(p []byte, ended error) {
	if rec == nil {
		return
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.whole = rec.whole || ended == io.EOF
	take := p[:min(len(p), rec.room)]
	rec.room -= len(take)
	rec.what.Cut = rec.what.Cut || len(take) < len(p)
	rec.held, _ = replaceAll(append(rec.held, take...), rec.scrub)
	rec.flush(len(rec.held) - begun(rec.held, rec.scrub))
}

// begun returns how many bytes at the end of b may be the beginning of a
// needle.
func begun(b []byte, needles [][]byte) (n int) {
	for _, needle := range needles {
		for k := min(len(b), len(needle)-1); k > n; k-- {
			if bytes.Equal(b[len(b)-k:], needle[:k]) {
				n = k
			}
		}
	}
	return n
}

// flush writes the first n bytes of what is held.
func (rec *recording) flush(n int) {
	if rec.body == nil {
		return
	}
	if _, err := rec.body.Write(rec.held[:n]); err != nil {
		rec.give(err)
		return
	}
	rec.held = rec.held[:copy(rec.held, rec.held[n:])]
}

// give ends a recording that cannot be written.
func (rec *recording) give(err error) {
	rec.fail("a provider's answer is not recorded to its end", err)
	_ = rec.body.Close() // the first error is the one to tell
	rec.body = nil
}

// close ends the recording. What is held then may be the first part of a
// secret that did not come whole: it is left out of a body that broke off.
func (rec *recording) close() {
	if rec == nil {
		return
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.body == nil {
		return
	}
	if rec.whole {
		rec.flush(len(rec.held))
	}
	rec.what.Cut = rec.what.Cut || !rec.whole
	if rec.body == nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(rec.what)
	if err == nil {
		text, _ := replaceAll(b.Bytes(), rec.scrub)
		err = os.WriteFile(filepath.Join(rec.dir, RecordingCase), text, 0o600)
	}
	if err != nil {
		rec.give(err)
		return
	}
	if err := rec.body.Close(); err != nil {
		rec.fail("a provider's answer is not recorded to its end", err)
	}
	rec.body = nil
}
