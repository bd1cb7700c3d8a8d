package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// soakVariable says how long TestWeatherSoak goes on: 30m is its long form, with
// all sources. From a minute on it judges goroutines, too, and from
// soakForMemory on memory.
const soakVariable = "SOAK"

// soakForMemory is the least length of a soak whose memory says anything: it
// fills up for the first minutes, on a busy machine for more of them, and the
// quarters of a shorter one would be held to each other while it does.
const soakForMemory = 10 * time.Minute

// TestWeatherSoak has clients of every kind at once, answers that are whole, cut
// off, refused, silent and left, searches among them, while a plugin is swapped
// again and again. Each stream ends as it has to and is counted as what it was;
// goroutines stay as they are, and memory once it has filled up.
func TestWeatherSoak(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin and runs the program")
	}
	length, sources := 1500*time.Millisecond, bench.Sources()[:1]
	if os.Getenv(longVariable) != "" {
		length = 3 * time.Second // more streams that meet a swap
	}
	if v := os.Getenv(soakVariable); v != "" {
		var err error
		if length, err = time.ParseDuration(v); err != nil {
			t.Fatalf("%s is %q: %v", soakVariable, v, err)
		}
		sources = bench.Sources()
	}
	rng := seeded(t)
	p := newProvider(t)
	dir := t.TempDir()
	for _, source := range sources[1:] {
		buildProvider(t, strings.ToLower(source), dir)
	}
	versions := twoVersions(t, filepath.Join(root(t), "plugins", "provider", "vllm"))
	program, base := serveUnlocked(t, t.TempDir(), dir)
	file := filepath.Join(dir, "vllm.wasm")
	swapPlugin(t, base, file, versions[1])
	swapPlugin(t, base, file, versions[0]) // both are compiled
	_, summary := send(t, http.MethodPost, base+"/indexes/notes/documents", `[{"id":1,"text":"a note of space"}]`)
	waitForTask(t, base, []byte(summary))
	provider := strings.TrimSuffix(p.url, "/v1")
	for _, source := range sources {
		change(t, base+"/chats/"+source+"/settings", bench.Settings(source, provider, "[]"))
	}
	change(t, base+"/chats/search/settings", bench.Settings("vLlm", provider, `["notes"]`))

	s := newSoak(t, base, sources)
	var memory, goroutines []int64
	before := s.goroutines()
	s.run(16, rng)
	swaps := 0
	for until := time.Now().Add(length); time.Now().Before(until); time.Sleep(250 * time.Millisecond) {
		swaps++
		swapPlugin(t, base, file, versions[swaps%2])
		memory = append(memory, rss(t, program.Process.Pid))
		goroutines = append(goroutines, int64(s.goroutines()))
	}
	s.stop()
	s.checkCounts()
	if !comesTrue(func() bool { return p.Open.Load() == 0 }) {
		t.Errorf("%d requests at the provider at the end", p.Open.Load())
	}
	t.Logf("%v, %d swaps, streams by what became of them: %v", length, swaps, s.counts)
	if length < time.Minute {
		return
	}
	q := len(memory) / 4
	early, late := mean(memory[q:2*q]), mean(memory[3*q:])
	t.Logf("in the second quarter and in the last: RSS %d and %d MiB, goroutines %d and %d", early>>20, late>>20, mean(goroutines[q:2*q]), mean(goroutines[3*q:]))
	if length >= soakForMemory && late > early*110/100 {
		t.Errorf("RSS grew by more than a tenth: %d, then %d bytes", early, late)
	}
	// Connections that wait for a next request are closed after half a minute.
	var after float64
	flat := comesTrue(func() bool { after = s.goroutines(); return after <= before+10 })
	t.Logf("goroutines: %v before, %v afterwards", before, after)
	if !flat {
		t.Errorf("%v goroutines at the end, %v at the start", after, before)
	}
}

// A soak is clients that ask in many ways at once, and how each stream ended.
type soak struct {
	t       *testing.T
	base    string
	sources []string
	client  *http.Client
	asking  sync.WaitGroup
	over    chan struct{}

	mu     sync.Mutex
	counts map[string]int // by the outcome that GET /metrics has
}

func newSoak(t *testing.T, base string, sources []string) *soak {
	return &soak{
		t: t, base: base, sources: sources, over: make(chan struct{}), counts: map[string]int{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
}

func (s *soak) run(clients int, rng *rand.Rand) {
	for range clients {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		s.asking.Go(func() {
			for {
				select {
				case <-s.over:
					return
				default:
					s.visit(own)
				}
			}
		})
	}
}

// stop lets the streams under way end.
func (s *soak) stop() {
	close(s.over)
	s.asking.Wait()
	s.client.CloseIdleConnections()
}

// visit asks in a random way, and checks that it ends as it has to.
func (s *soak) visit(rng *rand.Rand) {
	workspace := s.sources[rng.IntN(len(s.sources))]
	words, pause, place := 1+rng.IntN(60), rng.IntN(4), 1+rng.IntN(20)
	model, leave, want := fmt.Sprintf("c%d-d%d", words, pause), 0, "answered"
	switch rng.IntN(10) {
	case 0, 1:
		model, want = fmt.Sprintf("c30-d%d-x%d", pause, place), "failed"
	case 2:
		model, leave, want = "c1000000-d2", place, "left"
	case 3:
		model, leave, want = fmt.Sprintf("c30-d%d-h%d", pause, place), place, "left"
	case 4:
		model, want = "error", "llm_provider_rate_limited"
	case 5:
		workspace, model = "search", "search-"+model
	}
	got, came, err := s.ask(workspace, model, leave)
	if got != want || err != nil || want == "answered" && came != words || want == "failed" && came != place {
		s.t.Errorf("%s, %s, to be left after %d words: %q after %d words, error %v; want %q", workspace, model, leave, got, came, err, want)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[got]++
}

// ask reads one stream to its end, or until leave words have come.
func (s *soak) ask(workspace, model string, leave int) (outcome string, words int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}]}`, model)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/chats/"+workspace+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusTooManyRequests {
		_, err := io.Copy(io.Discard, resp.Body)
		return "llm_provider_rate_limited", 0, err
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.Contains(line, fmt.Sprintf(`"content":%q`, bench.Word(words))):
			if words++; words == leave {
				return "left", words, nil
			}
		case strings.Contains(line, `"type":"error"`):
			outcome = "failed"
		case line == "data: [DONE]" && outcome == "":
			outcome = "answered"
		}
	}
	return outcome, words, lines.Err()
}

// checkCounts holds GET /metrics to what the clients saw.
func (s *soak) checkCounts() {
	s.t.Helper()
	var counted map[string]int
	differ := func() (wrong int) {
		counted = map[string]int{}
		for name, n := range s.series() {
			family, labels, _ := strings.Cut(name, "{")
			for outcome := range s.counts {
				if (family == "parley_chat_answers_total" || family == "parley_chat_refused_total") && strings.Contains(labels, fmt.Sprintf("%q", outcome)) {
					counted[outcome] += int(n)
				}
			}
			if family == "parley_plugin_streams" {
				wrong += int(n)
			}
		}
		for outcome, n := range s.counts {
			wrong += max(n-counted[outcome], counted[outcome]-n)
		}
		return wrong
	}
	if !comesTrue(func() bool { return differ() == 0 }) {
		s.t.Errorf("streams by what became of them: clients saw %v, GET /metrics has %v", s.counts, counted)
	}
}

// series is the values of GET /metrics.
func (s *soak) series() map[string]float64 {
	s.t.Helper()
	_, body := send(s.t, http.MethodGet, s.base+"/metrics", "")
	all := map[string]float64{}
	for line := range strings.Lines(body) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok {
			all[name], _ = strconv.ParseFloat(value, 64)
		} else if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			all[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return all
}

// goroutines are those of the host, but for one of each instance of a plugin:
// pools have more instances for some minutes after they were needed.
func (s *soak) goroutines() float64 {
	n := 0.0
	for name, value := range s.series() {
		switch {
		case name == "go_goroutines":
			n += value
		case strings.HasPrefix(name, "parley_plugin_instances{"):
			n -= value
		}
	}
	return n
}
