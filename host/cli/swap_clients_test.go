package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// swapClients ask again and again and check each answer.
type swapClients struct {
	url    string
	client *http.Client
	cancel context.CancelFunc
	ctx    context.Context
	asking sync.WaitGroup
	done   atomic.Int64
	saw    [2]atomic.Int64 // streams of version A, and B

	mu    sync.Mutex
	taken []time.Duration
	errs  []error
}

func newSwapClients(base string) *swapClients {
	c := &swapClients{url: base + "/chats/swap/chat/completions", client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *swapClients) run(n int) {
	for range n {
		c.asking.Go(func() {
			for c.ctx.Err() == nil {
				if err := c.once(); err != nil {
					c.mu.Lock()
					c.errs = append(c.errs, err)
					c.mu.Unlock()
					return
				}
				c.done.Add(1)
			}
		})
	}
}

func (c *swapClients) count() int64 { return c.done.Load() }

// wait returns once n streams have ended.
func (c *swapClients) wait(t *testing.T, n int64) {
	t.Helper()
	for until := time.Now().Add(5 * time.Minute); c.count() < n; time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		failed := len(c.errs) > 0
		c.mu.Unlock()
		if failed || time.Now().After(until) {
			c.stop(t)
			t.Fatalf("%d streams, want %d", c.count(), n)
		}
	}
}

// latencies takes what words took since the last time.
func (c *swapClients) latencies() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.taken
	c.taken = nil
	return taken
}

// stop lets the streams under way finish.
func (c *swapClients) stop(t *testing.T) {
	t.Helper()
	c.cancel()
	c.asking.Wait()
	c.client.CloseIdleConnections()
	for _, err := range c.errs {
		t.Error(err)
	}
	c.errs = nil
}

var swapWord = regexp.MustCompile(`"content":"(\d+) (\d+) version-(A|B);"`)

// once reads one stream: twice ten words in order, all of one version.
func (c *swapClients) once() error {
	resp, err := c.client.Post(c.url, "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("status %d: %s", resp.StatusCode, b)
	}
	var taken []time.Duration
	var whole strings.Builder
	version, next, done := "", 0, false
	s := bufio.NewScanner(resp.Body)
	for s.Scan() {
		whole.WriteString(s.Text() + "\n")
		done = done || s.Text() == "data: [DONE]"
		m := swapWord.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		sent, _ := strconv.ParseInt(m[2], 10, 64)
		taken = append(taken, time.Since(time.Unix(0, sent)))
		if n, _ := strconv.Atoi(m[1]); n != next%10 || version != "" && m[3] != version {
			return fmt.Errorf("word %d of version %s where word %d of version %s was due:\n%s", n, m[3], next%10, version, &whole)
		}
		version = m[3]
		next++
	}
	if err := s.Err(); err != nil {
		return err
	}
	if next != 20 || !done {
		return fmt.Errorf("a stream ended after %d of 20 words, [DONE] %v:\n%s", next, done, &whole)
	}
	c.saw[version[0]-'A'].Add(1)
	c.mu.Lock()
	c.taken = append(c.taken, taken...)
	c.mu.Unlock()
	return nil
}
