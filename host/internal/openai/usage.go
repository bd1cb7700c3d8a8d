package openai

import (
	"fmt"
	"strconv"
)

// Usage is what an answer cost, in tokens.
type Usage struct {
	Prompt, Completion, Total, Cached, Reasoning int64
	Estimated                                    bool
}

// parseUsage reads the usage of a chunk; the zero value where there is none.
func parseUsage(v []byte) (u Usage) {
	o, _ := objectIn(v)
	number := func(o object, name string) int64 {
		n, _ := strconv.ParseInt(string(o[name]), 10, 64)
		return n
	}
	u.Prompt, u.Completion, u.Total = number(o, "prompt_tokens"), number(o, "completion_tokens"), number(o, "total_tokens")
	details, _ := objectIn(o["prompt_tokens_details"])
	u.Cached = number(details, "cached_tokens")
	details, _ = objectIn(o["completion_tokens_details"])
	u.Reasoning = number(details, "reasoning_tokens")
	u.Estimated = string(o["estimated"]) == "true"
	return u
}

// fullUsage is the usage of a whole answer, every member of it.
func fullUsage(v []byte) []byte {
	u := parseUsage(v)
	b := fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"audio_tokens":0},`+
		`"completion_tokens_details":{"reasoning_tokens":%d,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}`,
		u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning)
	if u.Estimated {
		b = append(b, `,"estimated":true`...)
	}
	return append(b, '}')
}
