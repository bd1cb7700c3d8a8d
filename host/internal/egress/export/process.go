package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/task"
)

// A progress is how far an export is, as it is kept. Indexes are copied in the
// order of their uids.
type progress struct {
	Index   string `json:",omitempty"` // that is being copied, or was last
	Made    bool   `json:",omitempty"` // it was not there, so that it is this export's
	Settled bool   `json:",omitempty"` // the other side has its settings
	After   string `json:",omitempty"` // the last document that the other side took
	Whole   bool   `json:",omitempty"` // and has all of it
	Looked  int    // documents that were looked at, in all indexes
	Matched map[string]int
	// Keyless are embedders, as index/name, that the other side has to be given
	// a key for.
	Keyless []string `json:",omitempty"`
}

// A run is one export under way.
type run struct {
	*Service
	work
	progress
	run    *task.Run
	uid    uint32
	target Target
	total  int // documents of all indexes that are copied
}

// Process applies an export, the one work of r. It may be canceled at any time:
// what the other side has by then stays there. See [task.Processor].
func (s *Service) Process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	w := &r.Works[0]
	x := &run{Service: s, run: r, uid: w.UID}
	if err := json.Unmarshal(w.Payload, &x.work); err != nil {
		return nil, fmt.Errorf("decode export: %w", err)
	}
	kept, err := s.opts.Log.Progress(w.UID)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		if err := json.Unmarshal(kept, &x.progress); err != nil {
			return nil, fmt.Errorf("decode how far export %d is: %w", w.UID, err)
		}
	}
	if x.Matched == nil {
		x.Matched = map[string]int{}
	}
	err = x.open()
	if err == nil {
		err = x.all(ctx)
	}
	if err != nil {
		e, ok := errors.AsType[*apierr.Error](err)
		if !ok || ctx.Err() != nil {
			return nil, err
		}
		err = e
	}
	details, errDetails := x.details(w.Details)
	if errDetails != nil {
		return nil, errDetails
	}
	o := task.Outcome{Details: details}
	if err != nil {
		if s.opts.Failed != nil {
			s.opts.Failed(w.UID, err)
		}
		o.Err = task.Fail(err)
	}
	return []task.Outcome{o}, nil
}

// open makes the way to the target.
func (x *run) open() error {
	base, err := outbound.ParseURL(x.URL, outbound.URLRules{})
	if err != nil {
		return fmt.Errorf("parse URL of export: %w", err)
	}
	var key []byte
	if len(x.SealedKey) > 0 {
		if key, err = x.opts.Sealer.Open(x.SealedKey, sealPlace(x.URL)); err != nil {
			return &apierr.Error{Code: apierr.InvalidExportAPIKey, Err: err, Message: "The `apiKey` of this export cannot be read any more, since the master key is another one: export again."}
		}
	}
	x.target = x.opts.Targets.Target(base, secret.New(string(key)))
	return nil
}

// all copies every index that is not copied yet.
func (x *run) all(ctx context.Context) error {
	indexes, err := x.opts.Indexes.ExportIndexes()
	if err != nil {
		return err
	}
	for i := range indexes {
		if _, ok := x.pattern(indexes[i].UID); ok {
			x.total += indexes[i].Documents
		}
	}
	for i := range indexes {
		ix := &indexes[i]
		name, ok := x.pattern(ix.UID)
		if !ok || ix.UID < x.Index || ix.UID == x.Index && x.Whole {
			continue
		}
		if ix.UID != x.Index {
			x.Index, x.Made, x.Settled, x.After, x.Whole = ix.UID, false, false, "", false
		}
		x.report()
		if !x.Settled {
			if err := x.settle(ctx, ix, x.Patterns[name]); err != nil {
				return err
			}
		}
		if err := x.documents(ctx, ix, name); err != nil {
			return err
		}
	}
	return nil
}

func (x *run) report() {
	x.run.Report(task.Progress{Step: "exporting index " + x.Index, Done: x.Looked, Total: x.total})
}

// keep writes down how far the export is.
func (x *run) keep() error {
	b, err := json.Marshal(&x.progress)
	if err != nil {
		return fmt.Errorf("encode how far export %d is: %w", x.uid, err)
	}
	return x.opts.Log.PutProgress(x.uid, b)
}

// settle makes the index on the other side where there is none, and gives it
// the settings, where it is new or the pattern says so.
func (x *run) settle(ctx context.Context, ix *search.Exported, p *pattern) error {
	there, err := x.index(ctx, ix)
	if err != nil {
		return err
	}
	if !there {
		// First noted: a crash behind the request must not make it somebody
		// else's index, whose settings are to be left alone.
		x.Made = true
		if err := x.keep(); err != nil {
			return err
		}
		if err := x.json(ctx, http.MethodPost, "/indexes", map[string]any{"uid": ix.UID, "primaryKey": orNull(ix.PrimaryKey)}); err != nil {
			return err
		}
	}
	if x.Made || p.OverrideSettings {
		if err := x.json(ctx, http.MethodPatch, indexPath(ix.UID)+"/settings", json.RawMessage(ix.Settings)); err != nil {
			return err
		}
		for _, name := range ix.Keyless {
			x.Keyless = append(x.Keyless, ix.UID+"/"+name)
		}
	}
	x.Settled = true
	return x.keep()
}

func indexPath(uid string) string { return "/indexes/" + url.PathEscape(uid) }

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// index asks whether the other side has the index, and that it tells documents
// apart by the same field.
func (x *run) index(ctx context.Context, ix *search.Exported) (there bool, err error) {
	a, err := x.send(ctx, Request{Method: http.MethodGet, Path: indexPath(ix.UID)}, http.StatusNotFound)
	if err != nil || a.Status == http.StatusNotFound {
		return false, err
	}
	var b struct{ PrimaryKey *string }
	if err := json.Unmarshal(a.Body, &b); err != nil {
		return false, apierr.Newf(searcherr.RemoteBadResponse, "The other instance answers what is not an index when it is asked for `%s`: is its API at that `url`?", ix.UID)
	}
	if b.PrimaryKey != nil && ix.PrimaryKey != "" && *b.PrimaryKey != ix.PrimaryKey {
		return false, apierr.Newf(searcherr.RemoteBadRequest, "Index `%s` has the primary key `%s` here and `%.100s` there: delete it there, or export to another instance.", ix.UID, ix.PrimaryKey, *b.PrimaryKey)
	}
	return true, nil
}

// details are those of the task once it is through.
func (x *run) details(before json.RawMessage) (json.RawMessage, error) {
	var m map[string]any
	if err := json.Unmarshal(before, &m); err != nil {
		return nil, fmt.Errorf("decode details of export: %w", err)
	}
	m["indexes"] = x.shown(x.Matched)
	if len(x.Keyless) > 0 {
		m["embeddersWithoutApiKey"] = x.Keyless
	}
	return encode(m)
}
