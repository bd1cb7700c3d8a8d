package main

// finish is a stop reason that was seen and not written yet.
type finish uint8

const (
	finishNone finish = iota
	finishStop
	finishLength
	finishTools
	finishRefusal
	finishUnknown
)

// finishOf reads a stop reason. At pause_turn the answer is not whole, and nothing here
// goes on with it: it is as one that is not known.
func finishOf(reason []byte) finish {
	switch string(reason) {
	case "":
		return finishNone
	case "max_tokens", "model_context_window_exceeded":
		return finishLength
	case "end_turn", "stop_sequence":
		return finishStop
	case "tool_use":
		return finishTools
	case "refusal":
		return finishRefusal
	}
	return finishUnknown
}

// word returns OpenAI's word for f, given whether the answer has calls.
func (f finish) word(calls bool) string {
	switch {
	case f == finishLength, f == finishUnknown && !calls:
		return "length"
	case f == finishRefusal:
		return "content_filter"
	case calls:
		return "tool_calls"
	}
	return "stop"
}
