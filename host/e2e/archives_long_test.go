package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// allDocuments is a sum over all documents of the films, in order, and how many
// there are.
func allDocuments(h *house.House) (sum string, n int) {
	h.T.Helper()
	hash := sha256.New()
	for {
		var page struct{ Results []json.RawMessage }
		resp, err := h.Client.Get(fmt.Sprintf("%s/indexes/films/documents?limit=1000&offset=%d", h.URL, n))
		if err != nil {
			h.T.Fatal(err)
		}
		err = json.NewDecoder(resp.Body).Decode(&page)
		resp.Body.Close()
		if err != nil {
			h.T.Fatal(err)
		}
		if len(page.Results) == 0 {
			return fmt.Sprintf("%x", hash.Sum(nil)), n
		}
		n += len(page.Results)
		for _, d := range page.Results {
			fmt.Fprintf(hash, "%d %s\n", len(d), d)
		}
	}
}

// addTexts adds n films of 50 words each, some of which are frequent and most
// rare, as in a text that somebody wrote. It returns the bytes of their JSON.
func addTexts(h *house.House, n int) (bytes int) {
	h.T.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	frequency := rand.NewZipf(rng, 1.1, 10, 50_000)
	const batch = 10_000
	for from := 0; from < n; from += batch {
		var b strings.Builder
		for id := from; id < min(from+batch, n); id++ {
			fmt.Fprintf(&b, `{"id":%d,"title":"Film number%d","year":%d,"text":"`, id, id, 1900+id%100)
			for range 50 {
				b.WriteString(strconv.FormatUint(frequency.Uint64()*7919+97, 36))
				b.WriteByte(' ')
			}
			b.WriteString("\"}\n")
		}
		resp, err := h.Client.Post(h.URL+"/indexes/films/documents", "application/x-ndjson", strings.NewReader(b.String()))
		if err != nil {
			h.T.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusAccepted {
			h.T.Fatalf("add texts: %d %s, %v", resp.StatusCode, body, err)
		}
		h.Finish(house.Reply{Body: string(body)})
		bytes += b.Len()
	}
	return bytes
}

// Dump or snapshot, wipe, restore: the same content, to the byte. DOCUMENTS says
// of how many documents.
func TestWipeAndRestore(t *testing.T) {
	t.Parallel()
	n := 500
	if s := os.Getenv("DOCUMENTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("DOCUMENTS=%q: want a number", s)
		}
	}
	for _, kind := range []string{"dump", "snapshot"} {
		t.Run(kind, func(t *testing.T) {
			out, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
			flags := map[string]string{"db-path": data, "dump-dir": out, "snapshot-dir": out}
			h := house.Open(t, flags)
			size := addTexts(h, n)
			want, _ := allDocuments(h)
			began := time.Now()
			file := makeArchive(h, kind, out)
			made := time.Since(began)
			h.Close()
			if err := os.RemoveAll(data); err != nil {
				t.Fatal(err)
			}
			flags["import-"+kind] = file
			began = time.Now()
			h = house.Open(t, flags)
			restored := time.Since(began)
			if got, count := allDocuments(h); got != want || count != n {
				t.Errorf("%d documents with the sum %s, want %d with %s", count, got, n, want)
			}
			found := false
			for minutes := 1 + n/10_000; !found && minutes > 0; minutes-- {
				found = waittest.Until(func() bool {
					return strings.Contains(h.Must("GET", "/indexes/films/stats", "").Body, `"isIndexing":false`) &&
						strings.Contains(h.Must("GET", fmt.Sprintf("/indexes/films/search?q=number%d&limit=1", n-1), "").Body, fmt.Sprintf(`"id":%d,`, n-1))
				})
			}
			if !found {
				t.Error("the last document is not found")
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d documents, %s: %s made in %v, %s; serving after %v, searched after %v", n, humanize.IBytes(uint64(size)), kind, made.Round(time.Millisecond), humanize.IBytes(uint64(info.Size())),
				restored.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
		})
	}
}

// A snapshot that is made while documents are written is of one moment: what it
// has are all the writes up to one of them, found and counted.
func TestSnapshotUnderLoad(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	h := house.Open(t, map[string]string{"snapshot-dir": out})
	h.AddFilms(1)
	ctx, stop := context.WithCancel(t.Context())
	wrote := make(chan int, 1)
	begun := make(chan struct{})
	go func() {
		id := 1
		for ; ctx.Err() == nil; id++ {
			resp, err := h.Client.Post(h.URL+"/indexes/films/documents", "application/json", strings.NewReader(fmt.Sprintf(`[{"id":%d,"title":"Film number%d"}]`, id, id)))
			if err != nil {
				t.Errorf("write: %v", err)
				break
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusAccepted {
				t.Errorf("write: status %d", resp.StatusCode)
				break
			}
			if id == 20 {
				close(begun)
			}
		}
		wrote <- id
	}()
	house.Within(t, begun, "the load begins")
	file := makeArchive(h, "snapshot", out)
	stop()
	last := <-wrote
	settleTasks(h)
	h.Close()

	again := house.Open(t, map[string]string{"db-path": filepath.Join(t.TempDir(), "data"), "import-snapshot": file})
	_, before := allDocuments(again)
	settleTasks(again) // of the writes that waited at that moment
	_, n := allDocuments(again)
	if before < 1 || n < before || n > last {
		t.Errorf("%d documents, and %d once what waited was applied; want them to be of one moment among %d", before, n, last)
	}
	var stats struct{ NumberOfDocuments int }
	if err := json.Unmarshal([]byte(again.Must("GET", "/indexes/films/stats", "").Body), &stats); err != nil || stats.NumberOfDocuments != n {
		t.Errorf("%d documents are counted, want %d: %v", stats.NumberOfDocuments, n, err)
	}
	for _, id := range []int{0, n / 2, n - 1} { // a prefix of the writes: none is missing
		if r := again.Must("GET", fmt.Sprintf("/indexes/films/search?q=number%d&limit=1", id), ""); !strings.Contains(r.Body, fmt.Sprintf(`"id":%d,`, id)) {
			t.Errorf("document %d of %d is not found: %s", id, n, r.Body)
		}
	}
	if r := again.Call("GET", fmt.Sprintf("/indexes/films/documents/%d", n), ""); r.Status != http.StatusNotFound {
		t.Errorf("document %d is there, of %d", n, n)
	}
}
