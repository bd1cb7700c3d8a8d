package openai

import (
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat"
)

// usageOf is what a whole answer cost; nothing where nobody counted.
func usageOf(f *chat.Finish) (u abi.Usage) {
	if f.Usage != nil {
		u = *f.Usage
	}
	return u
}

// appendUsage appends the usage of a whole answer, every member of it.
func appendUsage(b []byte, f *chat.Finish) []byte {
	u := usageOf(f)
	b = fmt.Appendf(b, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"audio_tokens":0},`+
		`"completion_tokens_details":{"reasoning_tokens":%d,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}`,
		u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning)
	if f.Estimated {
		b = append(b, `,"estimated":true`...)
	}
	return append(b, '}')
}
