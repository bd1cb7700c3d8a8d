package cli

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// roundsVariable says how often the things of the weather suite are done: 100 is
// its long form. seedVariable has the random places of a run before.
const (
	roundsVariable = "WEATHER"
	seedVariable   = "WEATHER_SEED"
)

// TestWeatherStop ends the program by SIGTERM at random moments of answers under
// way: nothing new is taken, the answers come to their end within the grace or
// say in an error frame why they do not, and the exit code is 0.
func TestWeatherStop(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin and runs the program")
	}
	rounds := int(envNumber(t, roundsVariable, 2))
	rng := seeded(t)
	p := newProvider(t)
	data, plugins := t.TempDir(), t.TempDir()
	buildProvider(t, "vllm", plugins)
	for round := range rounds {
		s := &stopping{t: t, grace: time.Minute, model: "c40-d5"}
		if round%2 == 1 {
			s.grace, s.model = time.Duration(1+rng.IntN(200))*time.Millisecond, "c1000000-d5"
		}
		s.serve(data, plugins)
		if round == 0 {
			change(t, s.base+"/chats/w/settings", bench.Settings("vLlm", strings.TrimSuffix(p.url, "/v1"), "[]"))
		}
		s.check(8, 1+rng.IntN(30))
		if !comesTrue(func() bool { return p.Open.Load() == 0 }) {
			t.Errorf("%d requests at the provider after the program's end", p.Open.Load())
		}
	}
}

// A stopping is one life of the program, up to SIGTERM.
type stopping struct {
	t       *testing.T
	grace   time.Duration
	model   string
	base    string
	process *os.Process
	wait    func() error
}

func (s *stopping) serve(data, plugins string) {
	s.t.Helper()
	program, base := reexecServe(s.t, io.Discard, "--db-path", data, "--plugin-dir", plugins, "--plugin-lock=off", "--shutdown-grace", s.grace.String())
	s.base, s.process, s.wait = base, program.Process, program.Wait
}

// check has streams under way, ends the program once each has read so many
// words, and looks at what becomes of them.
func (s *stopping) check(streams, words int) {
	s.t.Helper()
	idle := s.connection()
	defer idle.Close()
	var under, reading sync.WaitGroup
	for range streams {
		under.Add(1)
		reading.Go(func() { s.read(words, sync.OnceFunc(under.Done)) })
	}
	under.Wait()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			break
		}
		c.Close()
		if time.Now().After(until) {
			s.t.Error("connections are taken a minute after SIGTERM")
			break
		}
	}
	body := s.question()
	fmt.Fprintf(idle, "POST /chats/w/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if resp, err := http.ReadResponse(bufio.NewReader(idle), nil); err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable {
			s.t.Errorf("a request after SIGTERM, on a connection of before: status %d, want none or 503", resp.StatusCode)
		}
	}
	reading.Wait()
	if err := s.wait(); err != nil {
		s.t.Errorf("the program ended with %v, want the exit code 0", err)
	}
}

// connection is one on which a request was answered.
func (s *stopping) connection() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	fmt.Fprint(c, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return c
}

func (s *stopping) question() string {
	return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}]}`, s.model)
}

// read reads a stream to its end, and calls begun once words have come.
func (s *stopping) read(words int, begun func()) {
	defer begun()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(s.base+"/chats/w/chat/completions", "application/json", strings.NewReader(s.question()))
	if err != nil {
		s.t.Error(err)
		return
	}
	defer resp.Body.Close()
	next, done, failed := 0, false, ""
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		line := lines.Text()
		if strings.Contains(line, fmt.Sprintf(`"content":%q`, bench.Word(next))) {
			next++
		}
		if strings.Contains(line, `"type":"error"`) {
			failed = line
		}
		done = line == "data: [DONE]" || done && line == ""
		if next == words {
			begun()
		}
	}
	if lines.Err() != nil || !done {
		s.t.Errorf("grace %s: a stream ended after %d words without [DONE]: %v", s.grace, next, lines.Err())
	}
	switch long := s.grace == time.Minute; {
	case long && (next != 40 || failed != ""):
		s.t.Errorf("%d of 40 words came within the grace; %s", next, failed)
	case !long && !strings.Contains(failed, `"code":"shutting_down"`):
		s.t.Errorf("grace %s: the stream ended after %d words with %q, want an error frame that says why", s.grace, next, failed)
	}
}

// comesTrue asks again and again, for a minute.
func comesTrue(done func() bool) bool {
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if done() {
			return true
		}
	}
	return done()
}

// envNumber is the number that a variable has.
func envNumber(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	v := os.Getenv(variable)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 63)
	if err != nil {
		t.Fatalf("%s is %q: want a number", variable, v)
	}
	return n
}

// seeded returns random places, and says how to have them again.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := envNumber(t, seedVariable, uint64(time.Now().UnixNano()))
	t.Logf("%s=%d has the same random places", seedVariable, seed)
	return rand.New(rand.NewPCG(seed, 0))
}
