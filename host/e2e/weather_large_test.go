package e2e

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
)

// A load is a request that is large in some way.
type load struct {
	name   string
	body   func() io.Reader
	size   int64 // that the request says; 0: none
	status int   // 0: an answer or a refusal, as the plugin likes
	code   string
}

func loads() []load {
	const (
		ask = `{"model":"whole","messages":[{"role":"user","content":"hi"}`
		big = 110 << 20
	)
	text := func(parts ...string) load {
		body := strings.Join(parts, "")
		return load{body: func() io.Reader { return strings.NewReader(body) }, size: int64(len(body))}
	}
	prompt := text(`{"model":"whole","messages":[{"role":"user","content":"`, strings.Repeat("a", 1<<20), `"}]}`)
	prompt.name = "a prompt of 1 MiB of one letter"
	messages := text(ask, strings.Repeat(`,{"role":"assistant","content":"yes?"},{"role":"user","content":"hi"}`, 5000), `]}`)
	messages.name = "10,000 messages"
	tools := make([]string, 1000)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"type":"function","function":{"name":"tool%d","description":"A tool of many","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}`, i)
	}
	many := text(ask, `],"tools":[`, strings.Join(tools, ","), `]}`)
	many.name = "1,000 tools"
	endless := func() io.Reader { return io.LimitReader(letters{}, big) }
	return []load{
		prompt, messages, many,
		{name: "a body of 110 MiB", body: endless, size: big, status: http.StatusRequestEntityTooLarge, code: "payload_too_large"},
		{name: "a body of 110 MiB that does not say so", body: endless, status: http.StatusRequestEntityTooLarge, code: "payload_too_large"},
	}
}

// letters is one letter again and again.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// TestWeatherLarge sends what is too much, or nearly: it is answered or refused,
// by every plugin, and no memory stays with it.
func TestWeatherLarge(t *testing.T) {
	if apart.Run(t) {
		return
	}
	s := newStation(t, 1, nil, bench.Sources()...)
	var before int64
	for _, l := range loads() {
		for _, source := range s.sources {
			var took []time.Duration
			outcomes := map[string]int{}
			used, _ := bench.CPU(os.Getpid())
			for range s.rounds {
				began := time.Now()
				r := s.push("/chats/"+source+"/chat/completions", l)
				took = append(took, time.Since(began))
				outcomes[s.checkLoad(source, l, r)]++
			}
			if s.long {
				cpu, _ := bench.CPU(os.Getpid())
				slices.Sort(took)
				t.Logf("%s, %s: %v; p50 %v, most %v; %v of processor time each, client and provider included", l.name, source, outcomes,
					took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), ((cpu - used) / time.Duration(len(took))).Round(time.Millisecond))
			}
			if l.status != 0 {
				break // no plugin sees it
			}
		}
		s.checkCalm()
		if now := heap(); before == 0 {
			before = now // pools and instances are there
		} else if now > before+32<<20 {
			t.Errorf("%s: %d MiB on the heap, %d before", l.name, now>>20, before>>20)
		}
	}
}

// checkLoad wants an answer that is whole, or a refusal that says why, and
// returns which it was.
func (s *station) checkLoad(source string, l load, r house.Reply) string {
	s.T.Helper()
	what := l.name + ", " + source
	if r.Status == http.StatusOK && l.status == 0 {
		var f house.Frames
		f.WriteString(r.Body)
		if got := f.Aggregate(s.T); got["text"] != said(3) || got["finish_reason"] != "stop" || got["error"] != nil {
			s.T.Errorf("%s: %.300s", what, r.Body)
		}
		return "answered"
	}
	// 400 is of a plugin whose memory does not bear it.
	s.checkFailed(what, r, nil, cmp.Or(l.status, http.StatusBadRequest), cmp.Or(l.code, "llm_provider_rejected_request"))
	return fmt.Sprint("refused with ", r.Status)
}

// push sends a load over a connection of its own. It reads the answer whether
// or not all was sent.
func (s *station) push(path string, l load) (r house.Reply) {
	s.T.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		s.T.Fatal(err)
	}
	defer c.Close()
	sent := make(chan struct{})
	defer func() {
		c.Close()
		<-sent
	}()
	go func() {
		defer close(sent)
		req, err := http.NewRequest("POST", s.URL+path, l.body())
		if err != nil {
			s.T.Error(err)
			return
		}
		req.ContentLength = cmp.Or(l.size, -1)
		req.Header.Set("Content-Type", "application/json")
		_ = req.Write(c) // the host may have heard enough
	}()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		s.T.Errorf("%s: no answer: %v", l.name, err)
		return r
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.T.Errorf("%s: %v after %.300q", l.name, err, b)
	}
	return house.Reply{Status: resp.StatusCode, Header: resp.Header, Body: string(b)}
}
