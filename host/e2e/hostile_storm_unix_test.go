//go:build unix

package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/waittest"
)

// stormTime is how long a storm of strangers lasts: STRANGERS says, 60s for the long form.
func stormTime(t *testing.T) time.Duration {
	d, err := time.ParseDuration(os.Getenv("STRANGERS"))
	if err != nil {
		return 3 * time.Second
	}
	return d
}

// packed is a text of JSON that is much larger than what is sent.
func packed(t *testing.T, begin, filler, end string, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, begin) // into memory
	part := []byte(strings.Repeat(filler, (64<<10)/len(filler)))
	for n := 0; n < size; n += len(part) {
		_, _ = w.Write(part)
	}
	_, _ = io.WriteString(w, end)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostileStorm has a process of 3 GB of addresses and few descriptors that all who
// hold too much ask at once; of 2 GB, which leaves it hardly any beside what Go and the
// database map without use, in the long form. It answers, turns away what is too much, and has given
// back what it took afterwards.
func TestHostileStorm(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("limits of a process and its memory are those of Linux")
	}
	addresses := "3000000"
	if os.Getenv("STRANGERS") != "" {
		addresses = "2000000"
	}
	h := startHosted(t, "ulimit -v "+addresses+"; ulimit -n 512; ", "PARLEY_MAX_INDEXING_MEMORY=128MiB", "PARLEY_MAX_VECTOR_MEMORY=64MiB", "PARLEY_LOG_LEVEL=error")
	var docs bytes.Buffer
	for i := range 1200 {
		fmt.Fprintf(&docs, `{"id":%d,"text":%q}`+"\n", i, strings.Repeat("word ", 200))
	}
	for i := range 3 {
		fmt.Fprintf(&docs, `{"id":"long-%d","text":%q}`+"\n", i, strings.Repeat("word ", 300_000))
	}
	if status, _ := h.send("POST", "/indexes/a/documents", docs.Bytes(), "Content-Type", "application/x-ndjson"); status != http.StatusAccepted {
		t.Fatalf("documents = %d", status)
	}
	h.idle()
	if !waittest.Until(func() bool {
		status, _ := h.send("POST", "/indexes/a/search", []byte(`{"q":"word","limit":1}`))
		return status == http.StatusOK
	}) {
		t.Fatal("the index cannot be searched")
	}
	before, addressesBefore := h.resident(), h.status("VmSize:")

	tag := strings.Repeat("<", 1000)
	marked := `"q":"word","limit":1000,"attributesToHighlight":["*"],"highlightPreTag":"` + tag + `","highlightPostTag":"` + tag + `"`
	search := `{"indexUid":"a",` + marked + `}`
	chat := packed(t, `{"model":"m","messages":[{"role":"user","content":"`, "x", `"}]}`, 90<<20)
	settings := packed(t, `{"synonyms":{"a":["`, "x", `"]}}`, 90<<20)
	records := packed(t, `[`, `{"id":1,"x":"yyyyyyyyyyyyyyyyyyyyyyyyyyy"},`, `{"id":2}]`, 60<<20)
	gzipped := []string{"Content-Encoding", "gzip"}
	attacks := map[string]func() (int, int64){
		"many searches": func() (int, int64) {
			return h.send("POST", "/multi-search", []byte(`{"queries":[`+search+strings.Repeat(","+search, 29)+`]}`))
		},
		"federated": func() (int, int64) {
			return h.send("POST", "/multi-search", []byte(`{"federation":{"limit":1000},"queries":[`+strings.ReplaceAll(search+strings.Repeat(","+search, 9), `"limit":1000,`, "")+`]}`))
		},
		"one search": func() (int, int64) {
			return h.send("POST", "/indexes/a/search", []byte(`{`+marked+`,"showMatchesPosition":true}`))
		},
		"documents":        func() (int, int64) { return h.send("GET", "/indexes/a/documents?limit=100000", nil) },
		"packed chat":      func() (int, int64) { return h.send("POST", "/v1/chat/completions", chat, gzipped...) },
		"packed MCP":       func() (int, int64) { return h.send("POST", "/mcp", chat, gzipped...) },
		"packed settings":  func() (int, int64) { return h.send("PATCH", "/indexes/b/settings", settings, gzipped...) },
		"packed documents": func() (int, int64) { return h.send("POST", "/indexes/c/documents", records, gzipped...) },
		"a null": func() (int, int64) {
			return h.send("POST", "/mcp", []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":null}}`))
		},
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	over := func() bool {
		select {
		case <-stop:
			return true
		case <-h.ended:
			return true
		default:
			return false
		}
	}
	var refused, tooLarge, asked atomic.Int64
	for _, attack := range attacks {
		for range 2 {
			all.Go(func() {
				for !over() {
					status, _ := attack()
					asked.Add(1)
					switch status {
					case http.StatusServiceUnavailable:
						refused.Add(1)
					case http.StatusRequestEntityTooLarge:
						tooLarge.Add(1)
					}
				}
			})
		}
	}
	hold := func(text string) {
		all.Go(func() {
			for !over() {
				c, err := net.DialTimeout("tcp", strings.TrimPrefix(h.url, "http://"), 5*time.Second)
				if err != nil {
					continue
				}
				_ = c.SetDeadline(time.Now().Add(3 * time.Second))
				_, _ = io.WriteString(c, text) // it may be cut off
				_, _ = io.Copy(io.Discard, c)  // until then
				_ = c.Close()
			}
		})
	}
	slow := "PATCH /indexes/b/settings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + hostKey + "\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n" + strings.Repeat(" ", 500<<10)
	for range 100 {
		hold(slow)
	}
	for range 400 { // as many as descriptors, with the others
		hold("")
	}
	healthy, until := 0, time.Now().Add(stormTime(t))
	for time.Now().Before(until) && !over() {
		if err := h.health(); err != nil {
			t.Errorf("health in the storm = %v", err)
			break
		}
		healthy++
	}
	close(stop)
	all.Wait()
	h.check()
	t.Logf("%d requests, %d refused for now, %d too large; health was answered %d times; %d MiB before, %d at the end; %d MiB of addresses before, %d at most", asked.Load(), refused.Load(), tooLarge.Load(), healthy, before>>20, h.resident()>>20, addressesBefore>>20, h.status("VmPeak:")>>20)
	if refused.Load() == 0 || tooLarge.Load() == 0 {
		t.Errorf("of %d requests %d were refused for now and %d as too large, want some of both", asked.Load(), refused.Load(), tooLarge.Load())
	}
	if err := h.health(); err != nil {
		t.Errorf("health after the storm = %v", err)
	}
	if !waittest.Until(func() bool { return h.resident() < before+(200<<20) }) {
		t.Errorf("the process has %d MiB after the storm, %d before", h.resident()>>20, before>>20)
	}
}
