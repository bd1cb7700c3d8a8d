package openai

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
)

// finish is a finish reason that was seen and not written yet.
type finish uint8

const (
	finishNone finish = iota
	finishStop
	finishLength
	finishToolCalls
	finishFilter
	finishError
	finishOverloaded
	finishTimeout
	finishRepeated
	finishUnknown
)

// String returns OpenAI's word for f. An answer that ended without a word
// stopped.
func (f finish) String() string {
	switch f {
	case finishLength, finishUnknown:
		return "length"
	case finishToolCalls:
		return "tool_calls"
	case finishFilter:
		return "content_filter"
	}
	return "stop"
}

// err is the error of an answer that ended before its end; nil where it did not.
func (f finish) err() error {
	switch f {
	case finishError:
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider reported that it failed in the middle of the answer"}
	case finishOverloaded:
		return provider.ProviderError{Kind: abi.ErrorOverloaded, Message: "the provider ran out of resources in the middle of the answer"}
	case finishTimeout:
		return provider.ProviderError{Kind: abi.ErrorTimeout, Message: "the provider ran out of time in the middle of the answer"}
	case finishRepeated:
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider stopped the answer, since the model repeated itself"}
	}
	return nil
}

// finishOf reads the words of OpenAI and of servers that are like it: a word that is
// not known may mean anything but that the answer is whole.
func finishOf(word []byte) finish {
	switch string(word) {
	case "", "null":
		return finishNone
	case "stop", "STOP", "eos", "eos_token", "end_turn", "stop_sequence", "stop_token", "stop_str", "complete", "COMPLETE", "completed", "end", "done", "FINISH_REASON_STOP":
		return finishStop
	case "length", "max_tokens", "max_length", "model_length", "MAX_TOKENS", "max_output_tokens", "model_context_window_exceeded", "context_length_exceeded", "incomplete":
		return finishLength
	case "tool_calls", "function_call", "tool_use", "tool_call", "TOOL_CALL", "TOOL_CALLS":
		return finishToolCalls
	case "content_filter", "content_filtered", "safety", "SAFETY", "sensitive", "refusal", "guardrail_intervened",
		"recitation", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE":
		return finishFilter
	case "error", "ERROR", "network_error", "abort", "aborted", "cancelled", "canceled", "other", "OTHER", "failed", "MALFORMED_FUNCTION_CALL":
		return finishError
	case "insufficient_system_resource", "overloaded", "engine_overloaded":
		return finishOverloaded
	case "timeout", "TIMEOUT", "time_limit":
		return finishTimeout
	case "repetition", "repetition_truncation":
		return finishRepeated
	}
	return finishUnknown
}
