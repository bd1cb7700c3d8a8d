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

// Stream asks for one answer of chunks words, checks that they are whole and
// in order and that the answer ends as it should, and returns the time to the
// first of them.
func (t *Target) Stream(ctx context.Context, model string, chunks int) (first time.Duration, err error) {
	return t.stream(ctx, model, chunks, func() {}, func() {})
}

// stream is Stream that calls opened once the answer has begun, and then closed
// once it has ended.
func (t *Target) stream(ctx context.Context, model string, chunks int, opened, closed func()) (first time.Duration, err error) {
	body := fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":"hi"}]}`, model)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if t.Key != "" {
		req.Header.Set("Authorization", "Bearer "+t.Key)
	}
	begun := time.Now()
	resp, err := t.Client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return 0, fmt.Errorf("status %d: %s", resp.StatusCode, b)
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
		if at := bytes.Index(line, []byte(`"content":"word`)); at >= 0 {
			if next == 0 {
				first = time.Since(begun)
			}
			if got, want := line[at+len(`"content":"`):], Word(next); !bytes.HasPrefix(got, []byte(want)) {
				return 0, fmt.Errorf("%.12q where %q was due", got, want)
			}
			next++
		}
		done = done || string(line) == "data: [DONE]"
	}
	if err != nil {
		return 0, fmt.Errorf("after %d of %d words: %w", next, chunks, err)
	}
	if next != chunks || !done {
		return 0, fmt.Errorf("the stream ended after %d of %d words, [DONE] %v", next, chunks, done)
	}
	return first, nil
}

// Streams asks for n answers at once and returns the time to the first word of
// each, and what went wrong with the others.
func (t *Target) Streams(ctx context.Context, model string, n, chunks int) (firsts []time.Duration, errs []error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range n {
		wg.Go(func() {
			first, err := t.Stream(ctx, model, chunks)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
			} else {
				firsts = append(firsts, first)
			}
		})
	}
	wg.Wait()
	return firsts, errs
}
