package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Target is where chat completions are asked for.
type Target struct {
	URL    string // of the completions, whole
	Key    string // bearer token; empty: none
	Client *http.Client
}

// Firsts is how long an answer let its client wait.
type Firsts struct {
	Chunk time.Duration // for the first event, which may have a role and no word yet
	Word  time.Duration
}

// Stream asks for one answer of chunks words, checks that they are whole and
// in order and that the answer ends as it should.
func (t *Target) Stream(ctx context.Context, model string, chunks int) (Firsts, error) {
	return t.stream(ctx, model, chunks, func() {}, func() {})
}

// stream is Stream that calls opened once the answer has begun, and then closed
// once it has ended.
func (t *Target) stream(ctx context.Context, model string, chunks int, opened, closed func()) (first Firsts, err error) {
	body := fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":"hi"}]}`, model)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, strings.NewReader(body))
	if err != nil {
		return first, err
	}
	req.Header.Set("Content-Type", "application/json")
	if t.Key != "" {
		req.Header.Set("Authorization", "Bearer "+t.Key)
	}
	begun := time.Now()
	resp, err := t.Client.Do(req)
	if err != nil {
		return first, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return first, fmt.Errorf("status %d: %s", resp.StatusCode, b)
	}
	opened()
	defer closed()
	next, done := 0, false
	for s := bufio.NewScanner(resp.Body); ; {
		if !s.Scan() {
			err = s.Err()
			break
		}
		line := s.Bytes()
		if first.Chunk == 0 && bytes.HasPrefix(line, []byte("data:")) {
			first.Chunk = time.Since(begun)
		}
		if at := bytes.Index(line, []byte(`"content":"word`)); at >= 0 {
			if next == 0 {
				first.Word = time.Since(begun)
			}
			if got, want := line[at+len(`"content":"`):], Word(next); !bytes.HasPrefix(got, []byte(want)) {
				return first, fmt.Errorf("%.12q where %q was due", got, want)
			}
			next++
		}
		done = done || string(line) == "data: [DONE]"
	}
	if err != nil {
		return first, fmt.Errorf("after %d of %d words: %w", next, chunks, err)
	}
	if next != chunks || !done {
		return first, fmt.Errorf("the stream ended after %d of %d words, [DONE] %v", next, chunks, done)
	}
	return first, nil
}

// Streams asks for n answers at once and returns what went wrong.
func (t *Target) Streams(ctx context.Context, model string, n, chunks int) (errs []error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range n {
		wg.Go(func() {
			if _, err := t.Stream(ctx, model, chunks); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	wg.Wait()
	return errs
}
