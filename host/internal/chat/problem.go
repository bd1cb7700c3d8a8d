package chat

import (
	"errors"
	"net/http"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// A Problem says which part of a workspace to look at after an answer of it
// failed.
type Problem string

// The problems.
const (
	ProblemKey      Problem = "apiKey"   // missing, or the provider does not accept it
	ProblemBaseURL  Problem = "baseUrl"  // nothing answers there, or it may not be reached
	ProblemModel    Problem = "model"    // missing, not allowed, or unknown to the provider
	ProblemPlugin   Problem = "plugin"   // none is loaded for the source, or it failed
	ProblemSettings Problem = "settings" // one that the source needs is missing
	ProblemLimit    Problem = "limit"    // the provider's, or the host's
	ProblemTimeout  Problem = "timeout"
	ProblemProvider Problem = "provider" // it answered with any other failure
)

// ProblemOf returns what e, the failure of an answer, is about.
func ProblemOf(e *apierr.Error) Problem {
	kind := ""
	if f, ok := errors.AsType[*Failure](e.Err); ok {
		kind = f.Kind
	}
	switch {
	case e.Code == chaterr.MissingChatAPIKey, e.Code == chaterr.LLMProviderUnauthorized:
		return ProblemKey
	case e.Code == chaterr.InvalidChatModel, e.Code == chaterr.ModelRequired, e.Param == "model":
		return ProblemModel
	case kind == pluginRefused && e.Code == chaterr.LLMProviderRejectedRequest:
		return ProblemSettings // that its manifest does not declare, such as one of two ways to sign in
	case e.Code == chaterr.ChatProviderUnavailable, strings.HasPrefix(kind, "plugin_"):
		return ProblemPlugin
	case e.Code.Status() == http.StatusTooManyRequests:
		return ProblemLimit
	case e.Code == chaterr.LLMProviderTimeout:
		return ProblemTimeout
	case kind == "network_"+string(outbound.Connect), kind == "network_"+string(outbound.Refused):
		return ProblemBaseURL
	case kind == abi.ErrorNotFound && !strings.Contains(strings.ToLower(e.Message), "model"):
		return ProblemBaseURL // a path that the provider does not have
	case kind == abi.ErrorNotFound, kind == abi.ErrorInvalidRequest && strings.Contains(strings.ToLower(e.Message), "model") && !namesParameter(e.Message):
		return ProblemModel
	case kind == "" && e.Code.Status() == http.StatusBadRequest:
		return ProblemSettings // the host refused it before anything was sent
	}
	return ProblemProvider
}

// namesParameter reports whether a provider's message is about a parameter: that it
// names the model as well does not make another one right.
func namesParameter(message string) bool {
	message = strings.ToLower(message)
	for _, words := range []string{"parameter", "unsupported_value", "unsupported value", "not supported with this model", "max_tokens", "max_completion_tokens"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}
