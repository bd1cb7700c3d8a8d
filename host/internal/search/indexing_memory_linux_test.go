package search_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// beyondBound is what indexing may take beyond IndexingMemory where that is
// small: memtables and tables that the database builds, and what the collector
// needs to get anything done.
const beyondBound = 128 << 20

// TestIndexingMemory indexes a body that is larger than what it may take of
// memory, and holds the peak to that. The collector is told to let four times
// as much garbage lie about as usual: the bound must not hang on its habits.
//
// With INDEXING_MB=320 it indexes as many MB instead, under three bounds, and
// reports what the process takes.
//
//parley:option max-indexing-memory
func TestIndexingMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it indexes 10 MB, and its memory does not depend on the race detector")
	}
	size, bounds := int64(10<<20), []int64{32 << 20}
	if mb, err := strconv.Atoi(os.Getenv("INDEXING_MB")); err == nil {
		size, bounds = int64(mb)<<20, []int64{256 << 20, 512 << 20, 128 << 20}
	} else {
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	name := filepath.Join(t.TempDir(), "body.json")
	n := writeTexts(t, name, size)
	for _, bound := range bounds {
		t.Run(fmt.Sprintf("%d MiB", bound>>20), func(t *testing.T) {
			r := &rig{tb: t, dir: t.TempDir(), memory: bound}
			r.open()
			defer r.close()
			r.settings("a", `{"searchableAttributes":["title","text"],"filterableAttributes":["kind","price"]}`)
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			work, err := r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON}, f)
			if err != nil {
				t.Fatal(err)
			}
			debug.FreeOSMemory()
			before, start := search.MemoryUsed(), cpu(t)
			idle := residentPeak(t)
			highest := watchPeak(search.MemoryUsed)
			anonymous := watchPeak(func() int64 { return residentNow(t, "RssAnon") })
			sum, err := r.queue.Enqueue(t.Context(), work)
			if err != nil {
				t.Fatal(err)
			}
			if done, err := r.queue.Wait(t.Context(), sum.TaskUID); err != nil || done.Status != task.Succeeded {
				t.Fatalf("the task: %+v, %v", done.Error, err)
			}
			took, peak, anon := cpu(t)-start, highest()-before, anonymous()
			if got := r.count("a"); got != n {
				t.Errorf("%d documents, want %d", got, n)
			}
			if peak > bound+beyondBound {
				t.Errorf("indexing took %d MiB of memory, allowed %d and at most %d beyond", peak>>20, bound>>20, beyondBound>>20)
			}
			t.Logf("%d MB with a bound of %d MiB: Go took %d MiB beyond the %d before; RSS %d MiB before, at most %d, without files at most %d; %.0f s of processor time",
				size>>20, bound>>20, peak>>20, before>>20, idle>>20, residentNow(t, "VmHWM")>>20, anon>>20, took.Seconds())
		})
	}
}

// watchPeak looks at a figure again and again until highest is called, which
// returns the highest one.
func watchPeak(figure func() int64) (highest func() int64) {
	stop, done := make(chan struct{}), make(chan int64)
	go func() {
		most := figure()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, figure())
			case <-stop:
				done <- most
				return
			}
		}
	}()
	return func() int64 { close(stop); return <-done }
}

// writeTexts makes a body of about size bytes, and returns how many documents
// are in it: 80 words each of 200,000 that are as unequal as those of a
// language, and as much again that is not searched.
func writeTexts(t *testing.T, name string, size int64) (n int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 20, 200_000)
	words := func(n int) {
		for range n {
			// Neighbours in frequency are not neighbours in the dictionary.
			_, _ = io.WriteString(w, strconv.FormatUint(zipf.Uint64()*2654435761%(1<<31), 36)+" ")
		}
	}
	for at := int64(0); at < size; n++ {
		fmt.Fprintf(w, "%c{\"id\":%d,\"kind\":\"k%d\",\"price\":%d,\"title\":\"", "[,"[min(n, 1)], n, n%50, rng.IntN(10_000))
		words(6)
		_, _ = io.WriteString(w, `","text":"`)
		words(74)
		_, _ = io.WriteString(w, `","note":"`)
		words(80)
		_, _ = io.WriteString(w, "\"}\n")
		if n%100 == 0 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if at, err = f.Seek(0, io.SeekCurrent); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, _ = w.WriteString("]")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}
