package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/task"
)

const key = "a key of the other side"

// indexes are those of this side: of each its uid and how many documents it
// has. The filter "even" lets every second one through.
type indexes []search.Exported

func (x indexes) ExportIndexes() ([]search.Exported, error) { return x, nil }

func (x indexes) ExportDocuments(_ context.Context, uid, after string, filter json.RawMessage, take func(string, []byte, int) bool) (end int, err error) {
	for i := range x {
		if x[i].UID != uid {
			continue
		}
		for n := range x[i].Documents {
			id := fmt.Sprintf("%04d", n)
			if id <= after {
				continue
			}
			end++
			if filter != nil && n%2 != 0 {
				continue
			}
			if !take(id, fmt.Appendf(nil, `{"id":%q}`, id), end) {
				return 0, nil
			}
			end = 0
		}
	}
	return end, nil
}

// plain seals nothing.
type plain struct{}

func (plain) Seal(text []byte, place string) []byte { return append([]byte(place+": "), text...) }
func (plain) Open(sealed []byte, place string) ([]byte, error) {
	return bytes.TrimPrefix(sealed, []byte(place+": ")), nil
}

// notes is a [Log] in memory.
type notes map[uint32][]byte

func (n notes) Progress(task uint32) ([]byte, error) { return n[task], nil }
func (n notes) PutProgress(task uint32, b []byte) error {
	n[task] = bytes.Clone(b)
	return nil
}

// A side is the other instance: what it was given.
type side struct {
	base     string
	key      string
	requests []string            // method and path
	settings map[string]string   // by index; an index that is there has an entry
	ids      map[string][]string // of the documents, by index, in the order they came
	parts    []int               // documents of each request
	// trouble, where it is set, is asked before each request is taken, with the
	// number of those before it; it answers instead where it returns anything.
	trouble func(n int) (Answer, error)
}

func (s *side) Target(base *url.URL, key secret.Text) Target {
	s.base, s.key = base.String(), key.Reveal()
	return s
}

func (s *side) Send(ctx context.Context, r Request) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	n := len(s.requests)
	s.requests = append(s.requests, r.Method+" "+r.Path)
	if s.trouble != nil {
		if a, err := s.trouble(n); err != nil || a.Status != 0 {
			return a, err
		}
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/indexes"), "?")
	uid, what, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case r.Method == http.MethodGet:
		if _, ok := s.settings[uid]; !ok {
			return Answer{Status: http.StatusNotFound}, nil
		}
		return Answer{Status: http.StatusOK, Body: fmt.Appendf(nil, `{"uid":%q,"primaryKey":"id"}`, uid)}, nil
	case what == "settings":
		s.settings[uid] = string(r.Body)
	case what == "documents":
		z, err := gzip.NewReader(bytes.NewReader(r.Body))
		if err != nil {
			return Answer{}, err
		}
		b, err := io.ReadAll(z)
		if err != nil {
			return Answer{}, err
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		for _, line := range lines {
			s.ids[uid] = append(s.ids[uid], strings.Trim(line, `{}id":`))
		}
		s.parts = append(s.parts, len(lines))
	default:
		var b struct{ UID string }
		if err := json.Unmarshal(r.Body, &b); err != nil {
			return Answer{}, err
		}
		s.settings[b.UID] = "none"
	}
	return Answer{Status: http.StatusAccepted}, nil
}

func newSide() *side { return &side{settings: map[string]string{}, ids: map[string][]string{}} }

// A rig is an export between fakes.
type rig struct {
	t    *testing.T
	svc  *Service
	log  notes
	side *side
	work task.Work
}

func newRig(t *testing.T, o Options, body string) *rig {
	t.Helper()
	r := &rig{t: t, log: notes{}, side: newSide()}
	o.Indexes = indexes{
		{UID: "empty", Settings: []byte(`{"of":"empty"}`)},
		{UID: "films", PrimaryKey: "id", Documents: 300, Settings: []byte(`{"of":"films"}`), Keyless: []string{"default"}},
		{UID: "notes", PrimaryKey: "id", Documents: 100, Settings: []byte(`{"of":"notes"}`)},
	}
	o.Log, o.Targets, o.Sealer = r.log, r.side, plain{}
	r.svc = New(o)
	n, err := r.svc.Task([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	r.work = task.Work{Task: task.Task{UID: 7, Type: n.Type, Details: n.Details}, Payload: n.Payload}
	return r
}

// process applies the task; a failure of it is an error, too.
func (r *rig) process(ctx context.Context) (details string, err error) {
	r.t.Helper()
	out, err := r.svc.Process(ctx, task.NewRun([]task.Work{r.work}))
	if err != nil {
		return "", err
	}
	if e := out[0].Err; e != nil {
		err = &apierr.Error{Message: e.Code + ": " + e.Message}
	}
	return string(out[0].Details), err
}
