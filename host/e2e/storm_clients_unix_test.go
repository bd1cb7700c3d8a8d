//go:build unix

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/parley-search/parley/host/e2e/house"
)

// sights count what clients met that only read.
type sights struct {
	searches, chats   atomic.Int64 // sent
	answered, written atomic.Int64 // of them whole, of nodes that nobody hit meanwhile
	failed, cut       atomic.Int64 // not whole, of such nodes
	silent            atomic.Int64 // writes to such nodes that got no answer in time
	drained           atomic.Int64 // chats written to their end by a node that a signal ends
}

// judge says what an answer to a write means: acked, refused or unknown. An answer
// that is none of these fails the test.
func (s *storm) judge(what string, status int, answer []byte, err error) string {
	has := func(code string) bool { return bytes.Contains(answer, []byte(`"`+code+`"`)) }
	switch op, _ := err.(interface{ Unwrap() error }); {
	case status/100 == 2:
		return "acked"
	case status == http.StatusServiceUnavailable && (has("cluster_no_leader") || has("cluster_stale") || has("cluster_halted")), has("no_space_left_on_device"):
		return "refused"
	case status == 0 && op != nil && strings.Contains(err.Error(), "connection refused"):
		return "refused"
	case status != 0 && status != http.StatusServiceUnavailable:
		s.t.Errorf("%s: status %d %.300s", what, status, answer)
	}
	return "unknown"
}

// note notes what became of a write that began at a time.
func (s *storm) note(what, told string, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[what] = told
	if told == "acked" || told == "gone" {
		s.acks = append(s.acks, ack{began, time.Now()})
	}
}

// pause waits, or reports that clients are to end.
func (s *storm) pause(d time.Duration) (ended bool) {
	select {
	case <-s.stop:
		return true
	case <-time.After(d):
		return false
	}
}

// sendLoud is send for what changes something, and says when it began: not while all rests.
func (s *storm) sendLoud(node int, method, path, form, body string) (status int, answer []byte, began time.Time, err error) {
	s.quiet.RLock()
	defer s.quiet.RUnlock()
	began = time.Now()
	status, answer, err = s.send(node, method, path, form, strings.NewReader(body))
	return status, answer, began, err
}

// write sends things that nobody sent before, to nodes by chance, deletes some of
// them, and notes what the answers say of each.
func (s *storm) write(writer int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, uint64(writer)+1))
	var keys []string // acknowledged, and not deleted yet
	var pause time.Duration
	for n := writer * 1_000_000; !s.pause(pause); n++ {
		id := strconv.Itoa(n)
		form := "application/json"
		kind, method, path, body := "document", "POST", "/indexes/c/documents?primaryKey=id", fmt.Sprintf(`[{"id":%s,"title":"word%d of writer%d"}]`, id, n%100, writer)
		done := "acked"
		c := rng.IntN(14)
		switch {
		case c == 0:
			id = uuid.NewString()
			kind, path, body = "key", "/keys", fmt.Sprintf(`{"uid":%q,"actions":["search"],"indexes":["*"],"expiresAt":null}`, id)
		case c == 1:
			kind, method, path, body = "workspace", "PATCH", "/chats/w"+id+"/settings", `{"source":"openAi","apiKey":"sk-x"}`
		case c == 2: // each writer has an index whose settings only it writes
			kind, method, path, body = "settings", "PATCH", fmt.Sprintf("/indexes/s%d/settings", writer), fmt.Sprintf(`{"pagination":{"maxTotalHits":%d}}`, n+1)
			id = fmt.Sprintf("%d/%d", writer, n+1)
		case c == 4 && !s.mixed: // an index of its own, of a first document of few fields, of which versions before 0.3 die
			kind, path, body = "index", "/indexes/x"+id+"/documents?primaryKey=id", "["+smallDocument(rng, id)+"]"
		case c == 5 && !s.mixed:
			body = fmt.Sprintf(`[{"id":%s,"title":"word%d at a place","_vectors":{"own":[%d,%d]}}]`, id, n%100, n%7+1, n%11)
		case c == 6 && !s.mixed:
			kind, path = "file", "/indexes/f/files"
			form, body = upload("file", id+".md", fmt.Sprintf("# Title %s\n\nA text with word%d.\n", id, n%100))
		case c == 3 && len(keys) > 0:
			id, keys = keys[0], keys[1:]
			kind, method, path, body, done = "key", "DELETE", "/keys/"+id, "", "gone"
		}
		node := rng.IntN(len(s.nodes))
		at := s.harmed[node].Load()
		status, answer, began, err := s.sendLoud(node, method, path, form, body)
		told := s.judge(method+" "+path, status, answer, err)
		if status == 0 && at%2 == 0 && s.harmed[node].Load() == at {
			s.seen.silent.Add(1)
		}
		switch {
		case told == "acked" && done == "gone":
			told = "gone"
		case told == "acked" && kind == "key":
			keys = append(keys, id)
		case told == "refused" && done == "gone": // it is as it was
			told, keys = "acked", append(keys, id)
			pause = 20 * time.Millisecond
			continue
		}
		s.note(kind+" "+id, told, began)
		pause = 0
		if told == "refused" || told == "unknown" { // as Retry-After asks for, though sooner
			pause = 20 * time.Millisecond
		}
	}
}

// smallDocument is one of a random schema: the id alone, or some fields more, below each
// other and in lists.
func smallDocument(rng *rand.Rand, id string) string {
	fields := []string{`"id":` + id}
	for range rng.IntN(4) {
		name := fmt.Sprintf("f%d", rng.IntN(6))
		value := [...]string{`"red sea"`, `7`, `null`, `[]`, `{}`, `["a","b c"]`, `{"sub":"green"}`, `[{"sub":{"deep":"x"}}]`}[rng.IntN(8)]
		if field := fmt.Sprintf("%q:%s", name, value); !strings.Contains(strings.Join(fields, ","), fmt.Sprintf("%q:", name)) {
			fields = append(fields, field)
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// intrude has somebody without the master key write to the log now and then, what comes to
// his mind and what nodes wrote before.
func (s *storm) intrude(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2000))
	var heard []*nats.Msg
	for !s.pause(time.Duration(500+rng.IntN(2500)) * time.Millisecond) {
		s.intrudeOnce(rng, &heard)
	}
}

// intrudeOnce listens for a moment, and writes one message.
func (s *storm) intrudeOnce(rng *rand.Rand, heard *[]*nats.Msg) {
	s.quiet.RLock()
	defer s.quiet.RUnlock()
	nc, err := nats.Connect("nats://"+s.ports[rng.IntN(len(s.ports))], nats.Timeout(time.Second))
	if err != nil {
		return // it was hit
	}
	defer nc.Close()
	if sub, err := nc.SubscribeSync("parley." + stormCluster + ".>"); err == nil {
		for range 8 {
			if m, err := sub.NextMsg(100 * time.Millisecond); err == nil {
				*heard = append(*heard, m)
			}
		}
	}
	stray := nats.NewMsg("parley." + stormCluster + ".log")
	stray.Data = []byte("hello")
	switch c := rng.IntN(4); {
	case c == 0:
		stray.Data = make([]byte, rng.IntN(200))
		for i := range stray.Data {
			stray.Data[i] = byte(rng.Uint32())
		}
	case c < 3 && len(*heard) > 0:
		m := (*heard)[rng.IntN(len(*heard))]
		stray.Subject, stray.Data = m.Subject, m.Data
		if strings.HasSuffix(m.Subject, ".beat") { // of the log the stream wants no header
			stray.Header = m.Header
		}
	}
	if nc.PublishMsg(stray) == nil && nc.FlushTimeout(time.Second) == nil {
		s.strays.Add(1)
	}
}

// upload is a body that brings a file.
func upload(field, name, content string) (form, body string) {
	var b strings.Builder
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile(field, name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err != nil || w.Close() != nil {
		panic("a builder that fails")
	}
	return w.FormDataContentType(), b.String()
}

// install installs one version of a plugin after another, by nodes of chance.
func (s *storm) install(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1000))
	module := house.OldModules(s.t)["plain-c"]
	for n := 1; !s.pause(2 * time.Second); n++ {
		version := fmt.Sprintf("1.0.%d", n)
		form, body := upload("plugin", "plugin.wasm", string(house.Packed(s.t, module, "plain-c", map[string]any{"version": version})))
		status, answer, began, err := s.sendLoud(rng.IntN(len(s.nodes)), "POST", "/plugins/install/file", form, body)
		s.note("plugin 0/"+strconv.Itoa(n), s.judge("install of "+version, status, answer, err), began)
	}
}

// search asks a node again and again, and counts the answers that fail while nobody
// hit the node.
func (s *storm) search(node int) {
	for !s.pause(50 * time.Millisecond) {
		at := s.harmed[node].Load()
		if at%2 == 1 {
			continue
		}
		s.seen.searches.Add(1)
		began := time.Now()
		query := `{"q":"word7"}`
		if !s.mixed && s.seen.searches.Load()%2 == 0 {
			query = `{"q":"word7","vector":[1,2],"hybrid":{"embedder":"own","semanticRatio":0.5}}`
		}
		status, answer, err := s.call(node, "POST", "/indexes/c/search", query)
		switch {
		case s.harmed[node].Load() != at || s.calmed():
		case status == http.StatusOK:
			s.seen.answered.Add(1)
		case s.seen.failed.Add(1) <= 5:
			s.t.Errorf("a search of node %d, which nobody hit, after %v: status %d %.200s %v", node, time.Since(began), status, answer, err)
		}
	}
}

func (s *storm) calmed() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// chatWords are those of one answer, and chatPause is between two of them: an answer
// takes about as long as a failover.
const (
	chatWords = 30
	chatPause = 100 * time.Millisecond
)

// address is in what clients ask; a guard of the workspace hides it from the provider.
const address = "ann.lee@mail.example"

// speak is a provider that takes its time.
func (s *storm) speak() (url string) {
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b, err := io.ReadAll(r.Body); err == nil && !s.mixed && strings.Contains(string(b), address) {
			s.t.Errorf("the provider is sent what the guard is to hide: %.300s", b)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range chatWords {
			_, _ = io.WriteString(w, house.Delta("word "))
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(chatPause):
			}
		}
		_, _ = io.WriteString(w, house.Finish)
	}))
	s.t.Cleanup(p.Close)
	return p.URL
}

// chat has one answer of a node after another, and counts those that break off while
// nobody hit the node.
func (s *storm) chat(node int) {
	for !s.pause(50 * time.Millisecond) {
		at := s.harmed[node].Load()
		if at%2 == 1 {
			continue
		}
		s.seen.chats.Add(1)
		status, answer, err := s.call(node, "POST", "/chats/talk/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"speak to `+address+`"}]}`)
		whole := status == http.StatusOK && bytes.Count(answer, []byte("word ")) == chatWords && bytes.Contains(answer, []byte("data: [DONE]"))
		switch now := s.harmed[node].Load(); {
		case s.calmed():
		case now != at && now <= at+2 && s.signaled[node].Load() == at+1 && (status == http.StatusOK || errors.Is(err, errBroken)):
			if s.seen.drained.Add(1); !whole {
				s.t.Errorf("a chat of node %d, which a signal ended meanwhile: %d words, %v", node, bytes.Count(answer, []byte("word ")), err)
			}
		case now != at:
		case whole:
			s.seen.written.Add(1)
		case s.seen.cut.Add(1) <= 5:
			s.t.Errorf("a chat of node %d, which nobody hit: status %d, %d words, %v; its end: %.300s", node, status, bytes.Count(answer, []byte("word ")), err, answer[max(0, len(answer)-300):])
		}
	}
}
