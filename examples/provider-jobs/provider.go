package main

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// jobs speaks the API: POST /v1/jobs makes a job, GET /v1/jobs/ID says how it is, and
// POST /v1/jobs/ID/cancel calls it off. Each answers an object such as
// {"id": "j1", "status": "running"} and {"id": "j1", "status": "succeeded",
// "output": ["Hel", "lo"], "tokens": [9, 4]}.
type jobs struct{}

// state says whether the response had its object.
type state struct{ read bool }

// Encode implements [provider.Provider]. The id of the job is what Decode carried.
func (jobs) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	h := provider.HTTPRequest{URL: cmp.Or(strings.TrimRight(r.Settings.BaseURL, "/"), "https://jobs.llm.example.com") + "/v1/jobs"}
	job := "/" + provider.EscapeURL(string(r.StepCarry))
	switch {
	case r.Cancelled:
		h.URL += job + "/cancel"
	case r.Step > 0:
		h.Method, h.URL = "GET", h.URL+job
	default:
		var body rawjson.Edit
		body.Set("model", r.Chat.Get("model"))
		body.Set("messages", r.Chat.Get("messages"))
		h.Body = body.Value()
		h.Headers = []provider.Header{{Name: "Content-Type", Value: "application/json"}}
		if r.RequestID != "" { // a second attempt makes no second job
			h.Headers = append(h.Headers, provider.Header{Name: "Idempotency-Key", Value: r.RequestID + "-" + strconv.Itoa(r.Round)})
		}
	}
	return h, nil
}

// Decode implements [provider.Provider].
func (jobs) Decode(s *state, e provider.Event, out *provider.Out) error {
	if e.End {
		if !s.read && !e.Cancelled {
			return provider.Errorf(provider.ErrorUpstream, "the response ended early")
		}
		return nil
	}
	if s.read {
		return nil // what follows the object is nothing to us
	}
	job, ok := rawjson.Parse(e.Data)
	if !ok {
		return provider.Errorf(provider.ErrorUpstream, "the response is not one JSON object")
	}
	s.read = true
	switch status := job.Get("status").String(); status {
	case "queued", "running": // and no other: an unknown one would be asked about without end
		id := job.Get("id").String()
		if id == "" {
			return provider.Errorf(provider.ErrorUpstream, "the job has no id")
		}
		out.Carry([]byte(id))
		out.Again(provider.Again{AfterMS: 500, Cancel: true})
	case "succeeded":
		for it := job.Get("output").Items(); it.Next(); {
			out.Text([]byte(it.Value.String()))
		}
		if it := job.Get("tokens").Items(); it.Next() {
			prompt, _ := it.Value.Int()
			it.Next()
			completion, _ := it.Value.Int()
			out.Usage(provider.Usage{Prompt: uint64(prompt), Completion: uint64(completion), Total: uint64(prompt + completion)})
		}
		out.Finish("stop")
	default:
		return provider.Errorf(provider.ErrorUpstream, "the job ended as %s: %s", status, job.Get("error").String())
	}
	return nil
}

// Error implements [provider.Provider].
func (jobs) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }
