package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/apart"
)

// tollTokens is what each answer of a toll costs: less than the host reserves for it.
const tollTokens = 1000

// newToll is a provider that answers every request with one word, and says that it
// took tollTokens. It counts requests before it answers them: a host that is killed
// meanwhile has spent its tokens, too.
func newToll(t *testing.T) (url string, asked *atomic.Int64) {
	asked = &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"+
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":400,\"completion_tokens\":600,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n", tollTokens)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

// TestKillLimits has 200 clients at once use a key with a budget and 60 requests a
// minute, and kills the program with SIGKILL while they do, some times. No life lets
// by more than 60 requests and one for each second, and all of them together never
// more tokens than the budget has.
func TestKillLimits(t *testing.T) {
	if apart.Run(t) {
		return
	}
	const (
		budget, parallel = 250_000, 20
		lease            = 10_000 // the least, see package limit
		kills            = 3
		master           = "the master key of a test of limits"
	)
	t.Setenv("PARLEY_MASTER_KEY", master)
	toll, asked := newToll(t)
	data, plugins := t.TempDir(), t.TempDir()
	buildProvider(t, "vllm", plugins)
	start := func() *life {
		c := &life{t: t, http: &http.Client{Transport: withKey{&http.Transport{MaxIdleConnsPerHost: 300}, master}, Timeout: time.Minute}}
		c.cmd, c.url = reexecServe(t, io.Discard, "--db-path", data, "--plugin-dir", plugins, "--plugin-lock", "off")
		t.Cleanup(c.kill)
		return c
	}
	must := func(c *life, method, path, body string) string {
		t.Helper()
		status, answer := c.call(method, path, body)
		if status/100 != 2 {
			t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
		return answer
	}

	began := time.Now()
	c := start()
	must(c, "PATCH", "/experimental-features", `{"chatCompletions":true}`)
	must(c, "PATCH", "/chats/w/settings", `{"source":"vLlm","baseUrl":"`+toll+`"}`)
	var key struct{ UID, Key string }
	made := must(c, "POST", "/keys", fmt.Sprintf(`{"actions":["chatCompletions","search"],"indexes":["*"],"expiresAt":null,
		"limits":{"requestsPerMinute":60,"parallel":%d,"tokens":{"amount":%d,"period":"total"}}}`, parallel, budget))
	if err := json.Unmarshal([]byte(made), &key); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 300}, Timeout: time.Minute}
	// ask returns the status, 0 where the program is gone, and the error's code.
	ask := func(c *life) (status int, code string) {
		req, err := http.NewRequest("POST", c.url+"/v1/chat/completions", strings.NewReader(`{"model":"w/m","messages":[{"role":"user","content":"Hello"}]}`))
		if err != nil {
			return 0, err.Error()
		}
		req.Header.Set("Authorization", "Bearer "+key.Key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		var body struct{ Error struct{ Code string } }
		if json.NewDecoder(resp.Body).Decode(&body) != nil {
			return 0, "no whole answer"
		}
		return resp.StatusCode, body.Error.Code
	}
	// storm has 200 clients ask until each was refused, or the program is killed: that
	// is once killAfter answers came.
	storm := func(c *life, killAfter int64) {
		var answered atomic.Int64
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				for range 10 {
					switch status, code := ask(c); {
					case status == 0:
						return
					case status == http.StatusOK:
						if answered.Add(1) == killAfter {
							c.kill()
							return
						}
					case status != http.StatusTooManyRequests:
						t.Errorf("status %d, code %s", status, code)
						return
					}
				}
			})
		}
		all.Wait()
	}
	for n := range kills {
		before := asked.Load()
		storm(c, int64(15+20*n))
		let := asked.Load() - before
		if most := 60 + int64(time.Since(began).Seconds()) + 1; let > most {
			t.Errorf("life %d let by %d requests, want at most %d", n, let, most)
		}
		c.kill()
		client.CloseIdleConnections()
		began = time.Now()
		c = start()
	}
	must(c, "PATCH", "/keys/"+key.UID, `{"limits":{"requestsPerMinute":null}}`)
	for spent := false; !spent; {
		status, code := ask(c)
		switch {
		case status == http.StatusOK:
		case status == http.StatusTooManyRequests && code == "insufficient_quota":
			spent = true
		default:
			t.Fatalf("status %d, code %s", status, code)
		}
	}
	storm(c, -1) // none of them gets by
	tokens := asked.Load() * tollTokens
	// What a kill loses: the rest of a lease, and what was reserved for answers.
	least := int64(budget - kills*(lease+parallel*1100) - 1100)
	if tokens > budget || tokens < least {
		t.Errorf("the provider gave %d tokens, want at most %d, and %d at least", tokens, budget, least)
	}
	t.Logf("%d tokens of %d over %d kills", tokens, budget, kills)

	// A clean end loses nothing.
	must(c, "PATCH", "/keys/"+key.UID, `{"limits":{"tokens":{"amount":1000000}}}`)
	if status, code := ask(c); status != http.StatusOK {
		t.Fatalf("with a larger budget: %d %s", status, code)
	}
	left := func(c *life) string {
		req, err := http.NewRequest("POST", c.url+"/v1/chat/completions", strings.NewReader(`{"model":"w/m","messages":[{"role":"user","content":"Hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key.Key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.Header.Get("X-Ratelimit-Remaining-Tokens")
	}
	var before, after int
	_, err := fmt.Sscan(left(c), &before)
	if err == nil {
		stop(t, c)
		c = start()
		_, err = fmt.Sscan(left(c), &after)
	}
	if err != nil || before-after != tollTokens {
		t.Errorf("%d tokens remained before a restart and %d after it and an answer, %v; want %d less", before, after, err, tollTokens)
	}
}

// stop ends the program as an operator does, and waits for it.
func stop(t *testing.T, c *life) {
	t.Helper()
	c.once.Do(func() {
		if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := c.cmd.Wait(); err != nil {
			t.Errorf("the program ended with %v", err)
		}
		c.http.CloseIdleConnections()
	})
}
