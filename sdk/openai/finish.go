package openai

// finish is a finish reason that was seen and not written yet.
type finish uint8

const (
	finishNone finish = iota
	finishStop
	finishLength
	finishToolCalls
	finishFilter
	finishError
)

// String returns OpenAI's word for f. An answer that ended without a word
// stopped.
func (f finish) String() string {
	switch f {
	case finishLength:
		return "length"
	case finishToolCalls:
		return "tool_calls"
	case finishFilter:
		return "content_filter"
	}
	return "stop"
}

// finishOf reads the words of OpenAI and of servers that are like it. One that
// is not known means stop: new ones appear, and an answer is an answer.
func finishOf(word []byte) finish {
	switch string(word) {
	case "":
		return finishNone
	case "length", "max_tokens", "max_length", "model_length", "MAX_TOKENS":
		return finishLength
	case "tool_calls", "function_call", "tool_use":
		return finishToolCalls
	case "content_filter", "content_filtered", "safety", "SAFETY":
		return finishFilter
	case "error":
		return finishError
	}
	return finishStop
}
