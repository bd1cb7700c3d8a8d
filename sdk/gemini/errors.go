package gemini

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// Error reads a google.rpc.Status, which the OpenAI-compatible form and streams
// without SSE wrap in a list. What is none is read as any server's.
func (*Provider) Error(r *provider.Response) provider.ProviderError {
	e := openai.Error(r)
	v, _ := rawjson.Parse(r.Body)
	for it := v.Items(); it.Next(); {
		if len(it.Value.Get("error")) > 0 {
			v = it.Value
			break
		}
	}
	refineError(&e, v.Get("error"))
	return e
}

// streamError is the error of an event that says that the answer failed.
func streamError(event rawjson.Value) provider.ProviderError {
	code, _ := event.Path("error", "code").Int()
	e := openai.Error(&provider.Response{Status: int(code), Body: event})
	refineError(&e, event.Get("error"))
	return e
}

// refineError adds what Google's errors say beyond their status.
func refineError(e *provider.ProviderError, status rawjson.Value) {
	word := status.Get("status").String()
	switch word {
	case "":
		return
	case "UNAUTHENTICATED":
		e.Kind = abi.ErrorAuth
	case "PERMISSION_DENIED":
		e.Kind = abi.ErrorPermission
	case "NOT_FOUND":
		e.Kind = abi.ErrorNotFound
	case "RESOURCE_EXHAUSTED":
		e.Kind = abi.ErrorRateLimit
	case "UNAVAILABLE":
		e.Kind = abi.ErrorOverloaded
	case "DEADLINE_EXCEEDED":
		e.Kind = abi.ErrorTimeout
	case "CANCELLED", "INTERNAL", "UNKNOWN", "ABORTED", "DATA_LOSS":
		e.Kind = abi.ErrorUpstream
	case "INVALID_ARGUMENT":
		if text := strings.ToLower(e.Message); strings.Contains(text, "token count") && strings.Contains(text, "exceeds") {
			e.Kind = abi.ErrorContextLength
		}
	}
	e.ProviderCode = word
	for it := status.Get("details").Items(); it.Next(); {
		if reason := it.Value.Get("reason").String(); strings.HasPrefix(reason, "API_KEY_") {
			e.ProviderCode = reason
			if reason == "API_KEY_INVALID" || reason == "API_KEY_EXPIRED" { // with HTTP 400
				e.Kind = abi.ErrorAuth
			}
		}
		if ms := retryDelay(it.Value.Get("retryDelay").String()); ms > 0 {
			e.RetryAfterMS = ms
		}
	}
}

// retryDelay reads a google.protobuf.Duration, 48s or 1.5s, in milliseconds; a
// day at most is believed.
func retryDelay(text string) int64 {
	s, ok := strings.CutSuffix(text, "s")
	n, err := strconv.ParseFloat(s, 64)
	if !ok || err != nil || !(n > 0) {
		return 0
	}
	return int64(min(n, 24*60*60)*1000 + 0.5)
}
