package meilidump

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/task"
)

// A mover takes a dump over into an empty database.
type mover struct {
	ctx    context.Context
	config config.Config
	dump   *Dump
	report *Report
	db     *store.Store
	sealer *store.Sealer
	search *search.Service
	queue  *task.Queue
}

// Take fills dir, which is to become the data directory of c, with what the dump
// at path holds; d is what [Read] found in it.
func Take(ctx context.Context, c config.Config, dir, path string, d *Dump) (_ *Report, err error) {
	m := &mover{ctx: ctx, config: c, dump: d, report: &Report{Version: d.Version, Documents: map[string]int{}}}
	if m.db, err = store.Open(dir); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.db.Close()) }()
	// The sealing key is that of the directory which dir is to become.
	if m.sealer, err = store.OpenSealer(c.DBPath, []byte(c.MasterKey.Reveal())); err != nil {
		return nil, err
	}
	if err := m.db.CheckKey(m.sealer); err != nil {
		return nil, err
	}
	if err := m.takeFeatures(); err != nil {
		return nil, err
	}
	for _, take := range []func() error{m.takeKeys, m.takeChats, m.takeNetwork, m.takeWebhooks} {
		if err := take(); err != nil {
			return nil, err
		}
	}
	if err := m.indexing(dir, func() error { return m.takeIndexes(path) }); err != nil {
		return nil, err
	}
	m.listRest()
	return m.report, nil
}

// mostLeft bounds what is told of one by one. A dump of Meilisearch has a handful.
const mostLeft = 1000

// left notes what was not taken.
func (m *mover) left(format string, args ...any) {
	m.report.Left = append(m.report.Left, logs.Escape(fmt.Sprintf(format, args...)))
}

// enough returns an error once so much was not taken that it is not worth going on.
func (m *mover) enough() error {
	if n := len(m.report.Left); n >= mostLeft {
		return fmt.Errorf("%d things in it cannot be taken, the last one: %s", n, m.report.Left[n-1])
	}
	return nil
}

// indexing calls f while indexes are served and tasks are applied.
func (m *mover) indexing(dir string, f func() error) (err error) {
	out := upstream.New(upstream.Options{UserAgent: "parley", Private: m.config.PrivateNetworks})
	defer func() { err = errors.Join(err, out.Close()) }()
	// What was set there works here, switched on or not.
	all := feature.Set{Metrics: true, LogsRoute: true, ContainsFilter: true, CompositeEmbedders: true, Multimodal: true, Network: true, ChatCompletions: true, MCP: true}
	m.search, err = search.Open(search.Options{
		Dir: filepath.Join(dir, "indexes"), DB: m.db, Sealer: m.sealer, Bodies: m.db, Upstream: out,
		Features:       func() feature.Set { return all },
		IndexingMemory: m.config.WritingMemory(), IndexingThreads: m.config.WritingThreads(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.search.Close()) }()
	ctx, stop := context.WithCancel(m.ctx)
	if m.queue, err = task.Open(ctx, m.db, m.search, task.Options{}); err != nil {
		stop()
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- m.queue.Run(ctx) }()
	defer func() {
		stop()
		if e := <-ended; m.ctx.Err() == nil && !errors.Is(e, context.Canceled) {
			err = errors.Join(err, e)
		}
	}()
	return f()
}

// do has a task done, and returns why it failed; err is not the task's own.
func (m *mover) do(n task.New, refused error) (failed *task.Error, err error) {
	if e, ok := errors.AsType[*apierr.Error](refused); ok {
		return task.Fail(e), nil
	}
	if refused != nil {
		return nil, refused
	}
	s, err := m.queue.Enqueue(m.ctx, n)
	if err != nil {
		return nil, err
	}
	t, err := m.queue.Wait(m.ctx, s.TaskUID)
	return t.Error, err
}

func (m *mover) takeIndexes(path string) error {
	for _, uid := range slices.Sorted(maps.Keys(m.dump.indexes)) {
		if err := m.enough(); err != nil {
			return err
		}
		x := m.dump.indexes[uid]
		failed, err := m.do(write.CreateIndex(uid, x.primaryKey))
		if err != nil {
			return err
		}
		if failed != nil {
			m.left("Index %.100s, with %d documents: %s", uid, x.documents, failed.Message)
			delete(m.dump.indexes, uid)
			continue
		}
		m.report.Documents[uid] = 0
		if err := m.takeSettings(uid, x.settings); err != nil {
			return err
		}
	}
	return walk(m.ctx, path, func(name string, _ int64, r io.Reader) error {
		parts := strings.Split(name, "/")
		if len(parts) != 3 || parts[0] != "indexes" || parts[2] != "documents.jsonl" || m.dump.indexes[parts[1]] == nil {
			return nil
		}
		return m.takeDocuments(parts[1], r)
	})
}

// takeSettings applies settings at once or, where they are refused so, one by
// one.
func (m *mover) takeSettings(uid string, settings json.RawMessage) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(settings, &all); err != nil {
		if settings != nil {
			m.left("Settings of index %s: they are not a JSON object.", uid)
		}
		return nil
	}
	maps.DeleteFunc(all, func(_ string, v json.RawMessage) bool { return string(v) == "null" }) // defaults
	whole, err := json.Marshal(all)
	if err != nil {
		return err
	}
	failed, err := m.do(m.search.UpdateSettings(uid, whole))
	if err != nil || failed == nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parts := []json.RawMessage{all[name]}
		var embedders map[string]json.RawMessage
		if name == "embedders" && json.Unmarshal(all[name], &embedders) == nil {
			parts = nil // each by itself
			for _, e := range slices.Sorted(maps.Keys(embedders)) {
				one, err := json.Marshal(map[string]json.RawMessage{e: embedders[e]})
				if err != nil {
					return err
				}
				parts = append(parts, one)
			}
		}
		for _, part := range parts {
			one, err := json.Marshal(map[string]json.RawMessage{name: part})
			if err != nil {
				return err
			}
			failed, err := m.do(m.search.UpdateSettings(uid, one))
			if err != nil {
				return err
			}
			if failed != nil {
				m.left("Setting %s of index %s: %s", name, uid, failed.Message)
			}
		}
	}
	return nil
}

// perTask is about how many bytes of documents one task takes.
const perTask = 16 << 20

// takeDocuments adds the documents of an index, a part at a time.
func (m *mover) takeDocuments(uid string, r io.Reader) error {
	var part [][]byte
	size := 0
	flush := func() error {
		err := m.addDocuments(uid, part)
		part, size = nil, 0
		return err
	}
	err := eachLine(r, func(line []byte) error {
		part = append(part, bytes.Clone(line))
		if size += len(line) + perHeld; size < perTask {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// addDocuments adds documents; where they are refused, halves of them, down to
// the single one that is to blame.
func (m *mover) addDocuments(uid string, docs [][]byte) error {
	if len(docs) == 0 {
		return nil
	}
	if err := m.enough(); err != nil {
		return err
	}
	body := slices.Concat([]byte("["), bytes.Join(docs, []byte(",")), []byte("]"))
	failed, err := m.do(write.AddDocuments(uid, m.dump.indexes[uid].primaryKey, false, body))
	switch {
	case err != nil:
		return err
	case failed == nil:
		m.report.Documents[uid] += len(docs)
		return nil
	case failed.Code == indexerr.VectorEmbeddingError.String():
		if err := m.dropEmbedders(uid, failed.Message); err != nil {
			return err
		}
		return m.addDocuments(uid, docs)
	case len(docs) == 1:
		m.left("A document of index %s, %.100q: %s", uid, docs[0], failed.Message)
		return nil
	}
	half := len(docs) / 2
	if err := m.addDocuments(uid, docs[:half]); err != nil {
		return err
	}
	return m.addDocuments(uid, docs[half:])
}

// dropEmbedders takes the embedders away that make vectors, so that documents
// without one can be taken.
func (m *mover) dropEmbedders(uid, why string) error {
	failed, err := m.do(m.search.UpdateSettings(uid, []byte(`{"embedders":null}`)))
	if err == nil && failed != nil {
		err = errors.New(failed.Message)
	}
	m.left("Embedders of index %s: %s Set them again once they answer; vectors that the dump has stay.", uid, why)
	return err
}

// listRest notes what has no place here.
func (m *mover) listRest() {
	d := m.dump
	if d.waiting > 0 {
		m.left("%d tasks that were not applied yet when the dump was made: send again what they were to do.", d.waiting)
	}
	if d.finished > 0 || d.batches > 0 {
		m.left("The list of %d finished tasks and %d batches: the numbers of tasks here are those of the import.", d.finished, d.batches)
	}
	if d.instance {
		m.left("The uid of the instance: this one has its own.")
	}
	for _, name := range d.unknown {
		m.left("The file %.200s: nothing is known of it.", name)
	}
}
