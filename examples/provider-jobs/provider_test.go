package main

import (
	"encoding/base64"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(jobs{}), "testdata") }

func TestBadStreams(t *testing.T) {
	plugintest.RunBad(t, plugintest.New(jobs{}), "testdata", nil)
}

func TestSteps(t *testing.T) {
	d := plugintest.New(jobs{})
	job := base64.StdEncoding.EncodeToString([]byte("j/1"))
	for name, tt := range map[string]struct {
		r                abi.EncodeRequest
		method, url, key string
	}{
		"make":   {abi.EncodeRequest{RequestID: "r", Round: 2, Attempt: 1}, "POST", "https://jobs.llm.example.com/v1/jobs", "r-2"},
		"ask":    {abi.EncodeRequest{Step: 3, StepCarry: job, RequestID: "r"}, "GET", "https://jobs.llm.example.com/v1/jobs/j%2F1", ""},
		"cancel": {abi.EncodeRequest{Step: 4, StepCarry: job, Cancelled: true}, "POST", "https://jobs.llm.example.com/v1/jobs/j%2F1/cancel", ""},
	} {
		tt.r.Chat = abi.RawJSON(`{"model":"m","messages":[{"role":"user","content":"Hello"}]}`)
		h, err := d.Encode(tt.r)
		if err != nil || h.Method != tt.method || h.URL != tt.url || h.Headers["Idempotency-Key"] != tt.key || (len(h.Body) > 0) != (name == "make") {
			t.Errorf("%s: %+v, %v; want %s %s with the key %q", name, h, err, tt.method, tt.url, tt.key)
		}
	}
}
