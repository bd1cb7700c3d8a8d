package openai

import (
	"strings"

	"github.com/parley-search/parley/abi"
)

// kindOf sorts an error. Codes say most, then the status, then types; a text
// is only asked what none of them tells. status is 0 where there is none.
func kindOf(status int, code, typ, message string) string {
	for _, w := range [...]string{code, typ} {
		if kind := kindOfCode(strings.ToLower(w)); kind != "" {
			return kind
		}
	}
	if noMoney(strings.ToLower(message)) {
		return abi.ErrorQuota
	}
	if status == 0 || status == 400 || status == 413 || status == 422 || status >= 500 {
		if tooLong(strings.ToLower(message)) {
			return abi.ErrorContextLength
		}
	}
	if status == 400 && strings.Contains(message, "content management policy") {
		return abi.ErrorContentFilter
	}
	if status >= 400 {
		return kindOfStatus(status)
	}
	return kindOfType(strings.ToLower(typ), strings.ToLower(message))
}

// kindOfCode knows the codes that say more than a status does.
func kindOfCode(code string) string {
	if strings.HasPrefix(code, "throttling") { // DashScope's, whose types say quota
		return abi.ErrorRateLimit
	}
	switch code {
	case "insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached",
		"billing_not_active", "quota_exceeded", "insufficient_balance", "insufficient_user_quota",
		"exceeded_current_quota_error", "arrearage", "1113":
		return abi.ErrorQuota
	case "context_length_exceeded", "exceed_context_size_error", "context_window_exceeded",
		"request_too_large_for_context":
		return abi.ErrorContextLength
	case "content_filter", "content_policy_violation", "responsibleaipolicyviolation":
		return abi.ErrorContentFilter
	case "invalid_api_key", "invalid_authentication", "authentication_error", "unauthorized":
		return abi.ErrorAuth
	case "model_not_found", "invalid_model", "deploymentnotfound":
		return abi.ErrorNotFound
	case "rate_limit_exceeded", "ratelimitreached", "too_many_requests",
		"rate_limit_reached_error", "rate_limit_error", "limit_burst_rate", "limit_requests":
		return abi.ErrorRateLimit
	case "server_is_overloaded", "overloaded_error", "model_overloaded":
		return abi.ErrorOverloaded
	}
	return ""
}

// kindOfStatus sorts by HTTP status.
func kindOfStatus(status int) string {
	switch status {
	case 401:
		return abi.ErrorAuth
	case 402:
		return abi.ErrorQuota
	case 403:
		return abi.ErrorPermission
	case 404, 410:
		return abi.ErrorNotFound
	case 408, 504, 524:
		return abi.ErrorTimeout
	case 429:
		return abi.ErrorRateLimit
	case 503, 529:
		return abi.ErrorOverloaded
	}
	if status < 500 {
		return abi.ErrorInvalidRequest
	}
	return abi.ErrorUpstream
}

// kindOfType sorts an error that came without a status.
func kindOfType(typ, message string) string {
	switch {
	case strings.Contains(typ, "notfound"), strings.Contains(typ, "not_found"):
		return abi.ErrorNotFound
	case strings.Contains(typ, "badrequest"), strings.Contains(typ, "invalid_request"), strings.Contains(typ, "validation"):
		return abi.ErrorInvalidRequest
	case strings.Contains(typ, "permission"), strings.Contains(typ, "forbidden"):
		return abi.ErrorPermission
	case strings.Contains(typ, "auth"), message == "unauthorized":
		return abi.ErrorAuth
	case strings.Contains(typ, "rate_limit"), strings.Contains(typ, "ratelimit"), typ == "requests", typ == "tokens":
		return abi.ErrorRateLimit
	case strings.Contains(typ, "overloaded"), strings.Contains(typ, "unavailable"):
		return abi.ErrorOverloaded
	case strings.Contains(typ, "timeout"):
		return abi.ErrorTimeout
	}
	return abi.ErrorUpstream
}

// noMoney reports whether a message, in lower case, says that an account is empty. Of
// quota many speak who mean a rate.
func noMoney(message string) bool {
	for _, words := range [...]string{
		"insufficient balance", "balance is insufficient", "balance is not enough", "balance is too low",
		"insufficient credit", "not enough credit", "out of credit",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// tooLong reports whether a message, in lower case, says that the conversation
// does not fit into the model.
func tooLong(message string) bool {
	for _, words := range [...]string{
		"maximum context length", "context length exceeded", "context_length_exceeded", "context window",
		"context size", "context limit", "max context length", "maximum model length", "max_model_len", "prompt is too long", "exceeds the context",
		"longer than the maximum model length", "too many tokens in the prompt",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}
