package openai

import (
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// usageOf is what a whole answer cost; zero where nothing was counted.
func usageOf(f *chat.Finish) (u abi.Usage) {
	if f.Usage != nil {
		u = *f.Usage
	}
	return u
}

// appendUsage appends the usage of a whole answer, every member of it.
func appendUsage(b []byte, f *chat.Finish) []byte {
	u, from := usageOf(f), len(b)
	b = fmt.Appendf(b,
		`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"audio_tokens":0},`+
			`"completion_tokens_details":{"reasoning_tokens":%d,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}%s}`,
		u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning, estimated[f.Estimated])
	return append(b[:from], withCounted(b[from:], f.Counted)...)
}

// estimated is the member of a usage that was counted by bytes.
var estimated = map[bool]string{true: `,"estimated":true`}

// withCounted returns a usage with what the provider counts beside its tokens.
func withCounted(usage, counted json.RawMessage) json.RawMessage {
	more, ok := jsonbody.ObjectIn(counted)
	if !ok {
		return usage
	}
	o, _ := jsonbody.ObjectIn(usage)
	for name, v := range more {
		switch name {
		case "prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "reasoning_tokens", "estimated":
			continue // the host's own
		}
		if _, isObject := jsonbody.ObjectIn(o[name]); isObject {
			v = withCounted(o[name], v)
		}
		o[name] = v
	}
	return o.Append(nil)
}

// responseUsage is the usage as responses say it.
func responseUsage(f *chat.Finish) json.RawMessage {
	u := usageOf(f)
	b := fmt.Appendf(nil, `{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d%s}`,
		u.Prompt, u.Cached, u.Completion, u.Reasoning, u.Total, estimated[f.Estimated])
	more, ok := jsonbody.ObjectIn(f.Counted)
	if !ok {
		return b
	}
	for chat, response := range map[string]string{"prompt_tokens_details": "input_tokens_details", "completion_tokens_details": "output_tokens_details"} {
		if v, ok := more[chat]; ok {
			delete(more, chat)
			more[response] = v
		}
	}
	return withCounted(b, more.Append(nil))
}
