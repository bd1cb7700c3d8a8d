package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/task"
)

// A recorder is a processor that writes down what it is given.
type recorder struct {
	mu      sync.Mutex
	batches [][]task.Work
	answer  func(works []task.Work) ([]task.Outcome, error) // nil: all succeed
}

func (p *recorder) Process(_ context.Context, r *task.Run) ([]task.Outcome, error) {
	works := r.Works
	p.mu.Lock()
	defer p.mu.Unlock()
	p.batches = append(p.batches, works)
	if p.answer != nil {
		return p.answer(works)
	}
	return make([]task.Outcome, len(works)), nil
}

// shapes writes the batches as uids.
func (p *recorder) shapes() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, b := range p.batches {
		var uids []string
		for _, w := range b {
			uids = append(uids, fmt.Sprint(w.UID))
		}
		out = append(out, strings.Join(uids, "+"))
	}
	return strings.Join(out, " ")
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t *testing.T, log task.Log, p task.Processor, o task.Options) *task.Queue {
	t.Helper()
	q, err := task.Open(t.Context(), log, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// run runs q until the returned function is called.
func run(q *task.Queue) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = q.Run(ctx)
	}()
	return func() { cancel(); <-done }
}

func enqueue(t *testing.T, q *task.Queue, typ task.Type, index, payload string) task.Summary {
	t.Helper()
	s, err := q.Enqueue(t.Context(), task.New{Type: typ, IndexUID: index, Payload: []byte(payload)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wait(t *testing.T, q *task.Queue, uid uint32) task.Task {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tk, err := q.Wait(ctx, uid)
	if err != nil {
		t.Fatalf("wait for task %d: %v", uid, err)
	}
	return tk
}

func TestQueueLifecycle(t *testing.T) {
	log := openStore(t)
	p := &recorder{answer: func(works []task.Work) ([]task.Outcome, error) {
		if string(works[0].Payload) == "bad" {
			return []task.Outcome{{Err: task.Fail(apierr.Newf(indexerr.IndexAlreadyExists, "no"))}}, nil
		}
		return []task.Outcome{{Details: json.RawMessage(`{"n":1}`)}}, nil
	}}
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	q := open(t, log, p, task.Options{Now: func() time.Time { now = now.Add(250 * time.Millisecond); return now }})
	sum := enqueue(t, q, task.IndexCreation, "a", "good")
	if want := (task.Summary{TaskUID: 0, IndexUID: "a", Status: task.Enqueued, Type: task.IndexCreation, EnqueuedAt: now}); sum != want {
		t.Errorf("summary %+v, want %+v", sum, want)
	}
	got, err := q.Task(t.Context(), 0, nil)
	if err != nil || got.Status != task.Enqueued || string(got.Details) != "{}" || got.Duration() != 0 {
		t.Errorf("task before its turn: %+v, %v", got, err)
	}
	enqueue(t, q, task.IndexCreation, "a", "bad")
	defer run(q)()
	got = wait(t, q, 0)
	if got.Status != task.Succeeded || string(got.Details) != `{"n":1}` || got.Error != nil || task.ISO8601(got.Duration()) != "PT0.25S" {
		t.Errorf("task that succeeded: %+v, duration %s", got, task.ISO8601(got.Duration()))
	}
	got = wait(t, q, 1)
	if got.Status != task.Failed || *got.Error != (task.Error{Code: "index_already_exists", Type: "invalid_request", Message: "no"}) {
		t.Errorf("task that failed: %+v, error %+v", got, got.Error)
	}
	if _, err := q.Task(t.Context(), 2, nil); !apierr.Is(err, apierr.TaskNotFound) {
		t.Errorf("task that is not: %v", err)
	}
	if _, err := q.Task(t.Context(), 1, func(string) bool { return false }); !apierr.Is(err, apierr.TaskNotFound) {
		t.Errorf("task that may not be seen: %v", err)
	}
	if _, err := log.Payload(t.Context(), 0); err == nil {
		t.Error("the payload of a finished task is still there")
	}
}

func TestQueueJoinsDocumentTasks(t *testing.T) {
	p := &recorder{}
	q := open(t, openStore(t), p, task.Options{})
	for _, s := range []struct {
		typ   task.Type
		index string
	}{
		{task.DocumentAddition, "a"},
		{task.DocumentDeletion, "a"},
		{task.DocumentAddition, "a"},
		{task.DocumentAddition, "b"},
		{task.DocumentAddition, "a"},
		{task.SettingsUpdate, "a"},
		{task.SettingsUpdate, "a"},
		{task.DocumentAddition, "a"},
	} {
		enqueue(t, q, s.typ, s.index, "x")
	}
	defer run(q)()
	wait(t, q, 7)
	if got, want := p.shapes(), "0+1+2+4 3 5 6 7"; got != want {
		t.Errorf("batches %s, want %s", got, want)
	}
	if n := q.Pending(); n != 0 {
		t.Errorf("%d tasks pending, want none", n)
	}
}

func TestQueueBoundsBatch(t *testing.T) {
	p := &recorder{}
	log, err := store.Open(t.TempDir()) // one in memory takes no large payload
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	q := open(t, log, p, task.Options{})
	big := strings.Repeat("x", 20<<20)
	enqueue(t, q, task.DocumentAddition, "a", big)
	enqueue(t, q, task.DocumentAddition, "a", big)
	enqueue(t, q, task.DocumentAddition, "a", "small")
	defer run(q)()
	wait(t, q, 2)
	if got, want := p.shapes(), "0 1+2"; got != want {
		t.Errorf("batches %s, want %s", got, want)
	}
}

// TestQueueResumes opens the log again as after a crash in the middle of a
// task.
func TestQueueResumes(t *testing.T) {
	log := openStore(t)
	first := open(t, log, &recorder{}, task.Options{})
	for i := range 3 {
		enqueue(t, first, task.DocumentAddition, "a", fmt.Sprint("payload", i))
	}
	entered := make(chan struct{})
	hang := make(chan struct{})
	stuck := open(t, log, &recorder{answer: func([]task.Work) ([]task.Outcome, error) {
		close(entered)
		<-hang
		return nil, errors.New("killed")
	}}, task.Options{})
	ctx, kill := context.WithCancel(t.Context())
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		_ = stuck.Run(ctx)
	}()
	<-entered
	if got, _ := stuck.Task(t.Context(), 1, nil); got.Status != task.Processing {
		t.Errorf("status in the middle: %s, want processing", got.Status)
	}
	p := &recorder{}
	again := open(t, log, p, task.Options{})
	if n := again.Pending(); n != 3 {
		t.Errorf("%d tasks pending, want 3", n)
	}
	kill() // first, so that it does not try again
	close(hang)
	<-killed
	defer run(again)()
	if got := wait(t, again, 2); got.Status != task.Succeeded {
		t.Errorf("status %s", got.Status)
	}
	if got, want := p.shapes(), "0 1 2"; got != want || string(p.batches[2][0].Payload) != "payload2" {
		t.Errorf("batches %s, want %s, with payloads", got, want)
	}
	if s := enqueue(t, again, task.DocumentAddition, "a", ""); s.TaskUID != 3 {
		t.Errorf("the next task is number %d, want 3", s.TaskUID)
	}
}

func TestQueueRetriesWhatTheMachineFailed(t *testing.T) {
	p := &recorder{}
	tries := 0
	p.answer = func(works []task.Work) ([]task.Outcome, error) {
		if tries++; tries < 4 {
			return nil, errors.New("disk full")
		}
		return make([]task.Outcome, len(works)), nil
	}
	var told []string
	q := open(t, openStore(t), p, task.Options{Retry: time.Microsecond, Failed: func(err error) { told = append(told, err.Error()) }})
	enqueue(t, q, task.IndexCreation, "a", "")
	stop := run(q)
	got := wait(t, q, 0)
	stop()
	if got.Status != task.Succeeded || len(told) != 3 || told[0] != "apply task 0: disk full" {
		t.Errorf("status %s, told %q", got.Status, told)
	}
}

// TestQueueTakesTurns has many tasks of one index, and few of others that came later.
func TestQueueTakesTurns(t *testing.T) {
	p := &recorder{}
	q := open(t, openStore(t), p, task.Options{})
	for range 1200 {
		enqueue(t, q, task.DocumentAddition, "a", "")
	}
	for _, index := range []string{"b", "c", "b"} {
		enqueue(t, q, task.DocumentAddition, index, "")
	}
	enqueue(t, q, task.SettingsUpdate, "b", "")
	for _, n := range []task.New{{Type: task.IndexSwap, Indexes: []string{"b", "d"}}, {Type: task.DumpCreation}, {Type: task.DocumentAddition, IndexUID: "e"}} {
		if _, err := q.Enqueue(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 { // of a key with many indexes
		if _, err := q.Enqueue(t.Context(), task.New{Type: task.IndexCreation, IndexUID: fmt.Sprint("n", i), Key: "busy"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := q.Enqueue(t.Context(), task.New{Type: task.IndexCreation, IndexUID: "m", Key: "other"}); err != nil {
		t.Fatal(err)
	}
	defer run(q)()
	wait(t, q, 1209)
	var got []string
	for _, b := range p.batches {
		got = append(got, fmt.Sprintf("%s:%d+%d", b[0].IndexUID, b[0].UID, len(b)-1))
	}
	if want := "a:0+499 b:1200+1 c:1201+0 a:500+499 b:1203+0 a:1000+199 :1204+0 :1205+0 n0:1207+0 m:1210+0 e:1206+0 n1:1208+0 n2:1209+0"; strings.Join(got, " ") != want {
		t.Errorf("batches %s, want %s", strings.Join(got, " "), want)
	}
}

// TestQueueEndsLateBatch: what a late batch has not applied comes again, behind other
// indexes, and may be canceled.
func TestQueueEndsLateBatch(t *testing.T) {
	p := &recorder{answer: func(works []task.Work) ([]task.Outcome, error) {
		return make([]task.Outcome, min(len(works), 2)), nil
	}}
	q := open(t, openStore(t), p, task.Options{})
	for _, index := range []string{"a", "a", "a", "a", "a", "b"} {
		enqueue(t, q, task.DocumentAddition, index, "x")
	}
	defer run(q)()
	wait(t, q, 4)
	if got, want := p.shapes(), "0+1+2+3+4 5 2+3+4 4"; got != want {
		t.Errorf("batches %s, want %s", got, want)
	}
	first := wait(t, q, 1)
	b, err := q.Batch(t.Context(), *first.BatchUID, nil)
	if err != nil || b.Tasks.Len() != 2 || !strings.HasPrefix(b.Strategy, "stopped before task with id 2 because the batch took more than") {
		t.Errorf("the late batch: %+v, %v; want its two tasks, and why there are no more", b, err)
	}
	if last := wait(t, q, 2); *last.BatchUID == *first.BatchUID || last.Status != task.Succeeded {
		t.Errorf("task 2: %+v, want it in another batch", last)
	}
}

// TestHammerEnqueue enqueues from many goroutines: every number is given once,
// and work on an index is applied in the order of the numbers.
func TestHammerEnqueue(t *testing.T) {
	p := &recorder{}
	before := runtime.NumGoroutine()
	q := open(t, openStore(t), p, task.Options{})
	stop := run(q)
	const each = 50
	var wg sync.WaitGroup
	var mu sync.Mutex
	given := map[uint32]bool{}
	for range 8 {
		wg.Go(func() {
			for i := range each {
				s, err := q.Enqueue(context.Background(), task.New{Type: task.DocumentAddition, IndexUID: fmt.Sprint(i % 2)})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				given[s.TaskUID] = true
				mu.Unlock()
				if _, err := q.Wait(context.Background(), s.TaskUID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	stop()
	if len(given) != 8*each {
		t.Errorf("%d numbers given, want %d", len(given), 8*each)
	}
	last := map[string]uint32{}
	for _, b := range p.batches {
		for _, w := range b {
			if before, ok := last[w.IndexUID]; ok && w.UID <= before {
				t.Fatalf("task %d of index %s applied behind %d", w.UID, w.IndexUID, before)
			}
			last[w.IndexUID] = w.UID
		}
	}
	// Badger's own stay until the end of the test.
	if !waittest.Until(func() bool { return runtime.NumGoroutine() <= before+20 }) {
		t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
	}
}

// TestLargeDetails: the details of a task, and what it comes to, are kept without their
// large members, which are named, so that lists and webhooks have small ones alone.
func TestLargeDetails(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	p := &recorder{answer: func(works []task.Work) ([]task.Outcome, error) {
		return []task.Outcome{{Details: json.RawMessage(`{"warning":"w","synonyms":"` + long + `"}`)}}, nil
	}}
	q := open(t, openStore(t), p, task.Options{})
	s, err := q.Enqueue(t.Context(), task.New{Type: task.SettingsUpdate, IndexUID: "a", Details: json.RawMessage(`{"synonyms":"` + long + `","stopWords":["a"],"chat":"` + long[:3000] + `"}`)})
	if err != nil {
		t.Fatal(err)
	}
	details := func() string {
		got, err := q.Task(t.Context(), s.TaskUID, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(got.Details)
	}
	if got, want := details(), `{"leftOut":["chat","synonyms"],"stopWords":["a"]}`; got != want {
		t.Errorf("details = %.200s, want %s", got, want)
	}
	defer run(q)()
	wait(t, q, s.TaskUID)
	if got, want := details(), `{"leftOut":["synonyms"],"warning":"w"}`; got != want {
		t.Errorf("details at the end = %.200s, want %s", got, want)
	}
	b, err := q.Batch(t.Context(), 0, nil)
	if err != nil || len(b.Details) > 100 {
		t.Errorf("the batch has details of %d bytes, %v", len(b.Details), err)
	}
}

// TestMixed: what builds of before would pass over is refused while one of them may apply it.
func TestMixed(t *testing.T) {
	var mixed atomic.Bool
	q := open(t, openStore(t), nil, task.Options{Mixed: mixed.Load})
	for _, tt := range []struct {
		mixed bool
		needs string
		taken bool
	}{{true, "", true}, {true, "skipCreation", false}, {false, "skipCreation", true}} {
		mixed.Store(tt.mixed)
		_, err := q.Enqueue(t.Context(), task.New{Type: task.DocumentAddition, IndexUID: "a", Needs: tt.needs})
		if taken := err == nil; taken != tt.taken || err != nil && !strings.Contains(err.Error(), "skipCreation: not before all nodes") {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
