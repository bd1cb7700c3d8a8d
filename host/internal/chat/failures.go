package chat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// maxProviderMessage bounds what is repeated of a provider's own words.
const maxProviderMessage = 2 << 10

// explainError turns what ended an answer into the error that the client gets.
func (a *Answer) explainError(err error) *apierr.Error {
	if errors.Is(context.Cause(a.ctx), errAnswerTimeout) {
		return &apierr.Error{
			Code:    chaterr.LLMProviderTimeout,
			Message: fmt.Sprintf("The answer was not whole after %s, which is the limit: ask something narrower, or raise the limit.", a.deps.Limits.Answer),
			Err:     a.failure("answer_timeout", err),
		}
	}
	if b, ok := errors.AsType[*guard.Blocked](err); ok {
		return blockedError(b)
	}
	return a.requestError(err)
}

// timeoutRemedies say who may give a provider more time.
var timeoutRemedies = map[outbound.TimeLimit]string{
	outbound.LimitFirstByte: " A model that must be loaded first takes longer: raise the host's option --provider-first-byte-timeout or, " +
		"as far as --provider-timeout-max allows, the workspace's setting `firstByteSeconds` or timeouts.firstByteSeconds in the plugin's manifest.",
	outbound.LimitSilence: " The host's option --provider-silence-timeout says how long it may be silent or, " +
		"as far as --provider-timeout-max allows, timeouts.silenceSeconds in the plugin's manifest.",
	outbound.LimitWhole: " The host's option --provider-answer-timeout says how long it may take.",
}

// requestError is the error for whatever ended a request or its response.
func (l link) requestError(err error) *apierr.Error {
	if up, ok := errors.AsType[*outbound.Error](err); ok {
		code, remedy := chaterr.LLMProviderError, ""
		if up.Kind == outbound.Timeout {
			code = chaterr.LLMProviderTimeout
			remedy = timeoutRemedies[up.Over]
		}
		if up.Kind == outbound.Connect {
			remedy = " See that the provider runs there, and that the workspace's `baseUrl` is right."
		}
		if up.Kind == outbound.Unauthorized {
			code, remedy = chaterr.LLMProviderUnauthorized, " Check the secrets of the workspace."
		}
		return &apierr.Error{Code: code, Message: "The request to the provider failed: " + l.boundMessage(up.Message) + "." + remedy, Err: l.failure("network_"+string(up.Kind), err)}
	}
	return l.attributed(err)
}

// explainRefusal is the error for a response that is not a success: the plugin says
// what it means.
func (a *Answer) explainRefusal(status int, header http.Header, body []byte) error {
	_, step := a.deps.step(a.round.trace.ctx, stepError)
	err := a.refusalError(a.ctx, status, header, body, step)
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	return err
}

// refusalError is the error for a response that is not a success; step ends when the
// plugin has said what it means.
func (l link) refusalError(ctx context.Context, status int, header http.Header, body []byte, step Step) error {
	in := abi.ErrorRequest{Status: status, Headers: make(map[string]string, len(header)), Body: l.hideSecrets(string(rawjson.Closed(body)))} // a body that was cut is read as well
	for name, values := range header {
		in.Headers[strings.ToLower(name)] = l.hideSecrets(strings.Join(values, ", "))
	}
	p, err := l.source.Error(ctx, &in)
	step.End(err)
	if err != nil || p == nil {
		// The status alone says enough for the client to act on.
		p = &abi.ProviderError{}
	}
	return l.providerError(p, status, retryAfter(header, time.Now()), err)
}

// providerError maps a provider's failure. status is 0 where it came inside a
// response that began as a success; cause is for the log.
func (l link) providerError(p *abi.ProviderError, status int, after time.Duration, cause error) error {
	if p.Kind == abi.ErrorPlugin {
		return l.callError(&provider.CallError{Kind: provider.Declared, Code: abi.CodeFailed, Message: p.Message}, true)
	}
	failure := l.failure(knownKind(p.Kind), cause)
	failure.ProviderCode = l.hideSecrets(p.ProviderCode)
	e := &apierr.Error{Code: providerCode(p.Kind, status), RetryAfter: after, Err: failure}
	if e.Code == chaterr.LLMProviderRejectedRequest {
		e.Reason = reasons[p.Kind]
	}
	says := providerSays[e.Code]
	if p.Kind == abi.ErrorQuota || status == http.StatusPaymentRequired {
		e.Reason, e.RetryAfter, says = reasons[abi.ErrorQuota], 0, saysQuota
	}
	if p.RetryAfterMS > 0 && e.Reason != reasons[abi.ErrorQuota] {
		e.RetryAfter = time.Duration(min(p.RetryAfterMS, int64(24*time.Hour/time.Millisecond))) * time.Millisecond
	}
	said := l.boundMessage(p.Message)
	if said == "" {
		said = "it gave no reason"
	}
	if code := failure.ProviderCode; code != "" && len(code) <= 100 {
		said += " (" + code + ")"
	}
	with := ""
	if status != 0 {
		with = fmt.Sprintf(" with status %d", status)
	}
	e.Message = fmt.Sprintf("%s%s: %s", says, with, said)
	if advice := l.boundMessage(p.Advice); advice != "" {
		e.Message = strings.TrimRight(e.Message, ".") + ". " + advice
	}
	if e.Code == chaterr.LLMProviderRateLimited && e.RetryAfter > 0 {
		// In a stream that has begun nothing else says it.
		e.Message = fmt.Sprintf("%s. Ask again in %d seconds.", strings.TrimRight(e.Message, "."), int(math.Ceil(e.RetryAfter.Seconds())))
	}
	return e
}

// saysQuota is what the client reads where no time to wait helps.
const saysQuota = "The workspace's account with the provider has no money or quota left: asking again is in vain until whoever pays for it adds some. The provider answered"

// reasons are what a request is refused for, by the plugin's word for it.
var reasons = map[string]string{
	abi.ErrorContextLength: "context_length_exceeded",
	abi.ErrorContentFilter: "content_filter",
	abi.ErrorQuota:         "insufficient_quota",
}

// knownKind is a kind of the contract: what a plugin makes up is none.
func knownKind(kind string) string {
	switch kind {
	case abi.ErrorAuth, abi.ErrorPermission, abi.ErrorNotFound, abi.ErrorInvalidRequest, abi.ErrorContextLength, abi.ErrorRateLimit,
		abi.ErrorQuota, abi.ErrorContentFilter, abi.ErrorOverloaded, abi.ErrorTimeout:
		return kind
	}
	return abi.ErrorUpstream
}

var providerSays = map[apierr.Code]string{
	chaterr.LLMProviderRateLimited:     "The provider limits how often it is asked; it answered",
	chaterr.LLMProviderRejectedRequest: "The provider rejected the request",
	chaterr.LLMProviderUnauthorized:    "The provider did not accept the workspace's apiKey, or the secrets in its options; it answered",
	chaterr.LLMProviderTimeout:         "The provider ran out of time; it answered",
	chaterr.LLMProviderError:           "The provider failed",
}

// providerCode chooses the code by what the plugin says, and by the status
// where it says nothing in particular. 429 is 429 to all: SDKs wait for it.
func providerCode(kind string, status int) apierr.Code {
	if status == http.StatusTooManyRequests || status == http.StatusPaymentRequired {
		return chaterr.LLMProviderRateLimited
	}
	switch kind {
	case abi.ErrorAuth, abi.ErrorPermission:
		return chaterr.LLMProviderUnauthorized
	case abi.ErrorContextLength, abi.ErrorContentFilter:
		return chaterr.LLMProviderRejectedRequest
	case abi.ErrorNotFound, abi.ErrorInvalidRequest:
		// Adapters sort every 4xx in here that they know nothing of. Without a
		// status, or with one that is a success, theirs is the only word.
		if status < http.StatusBadRequest {
			return chaterr.LLMProviderRejectedRequest
		}
	case abi.ErrorRateLimit, abi.ErrorQuota:
		return chaterr.LLMProviderRateLimited
	case abi.ErrorTimeout:
		return chaterr.LLMProviderTimeout
	case abi.ErrorOverloaded:
		return chaterr.LLMProviderError
	}
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		return chaterr.LLMProviderRejectedRequest
	case http.StatusUnauthorized, http.StatusForbidden:
		return chaterr.LLMProviderUnauthorized
	}
	return chaterr.LLMProviderError
}

// pluginError is the error for a plugin's call that did not do what it should.
func (a *Answer) pluginError(err error) error {
	if ctxErr := a.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	return a.callError(err, a.round.begun)
}

// callError is the error for a plugin's call that failed; sent: the request is
// under way already.
func (l link) callError(err error, sent bool) error {
	p, ok := errors.AsType[*provider.CallError](err)
	if !ok {
		p = &provider.CallError{Kind: provider.Fault, Message: fmt.Sprintf("the plugin %s %s gave an answer that cannot be used", l.manifest.Name, l.manifest.Version)}
	}
	e := &apierr.Error{Code: chaterr.LLMProviderError, RetryAfter: p.RetryAfter, Err: l.failure("plugin_"+string(p.Kind), err)}
	said := l.boundMessage(p.Message)
	switch {
	case p.Kind == provider.Declared && p.Code != abi.CodeRefused:
		// Its words are for the log: see abi.CodeFailed.
		e.Message = fmt.Sprintf("The plugin %s %s could not go on; the host's log has the details.", l.manifest.Name, l.manifest.Version)
	case p.Kind == provider.Declared:
		e.Err = l.failure(pluginRefused, err)
		// What it refuses before anything was sent is the request.
		if !sent {
			e.Code = chaterr.LLMProviderRejectedRequest
		}
		e.Message = fmt.Sprintf("The plugin %s %s says: %s", l.manifest.Name, l.manifest.Version, said)
	case p.Kind == provider.TooLarge:
		if sent {
			// The request was sent; it is the provider who said too much.
			e.Message = fmt.Sprintf("The answer broke off: the provider sent a piece that is too large for the plugin %s %s. Ask for less at once.", l.manifest.Name, l.manifest.Version)
			break
		}
		e.Code = chaterr.LLMProviderRejectedRequest
		e.Message = fmt.Sprintf("The request was not sent, since %s: send fewer or shorter messages.", said)
	case p.Kind == provider.Unavailable:
		e.Code = chaterr.ChatProviderUnavailable
		e.Message = fmt.Sprintf("The request cannot be served now, since %s: try again later.", said)
	default:
		e.Message = fmt.Sprintf("The answer failed, since %s; the host's log has the details.", said)
	}
	return e
}

// retryAfter reads how long a provider wants to be left alone: milliseconds,
// seconds or a date, which is by the provider's own clock where the response
// tells that. It returns 0 where it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 86_400_000 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s <= 86_400 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		if date, err := http.ParseTime(h.Get("Date")); err == nil {
			now = date
		}
		return max(0, min(at.Sub(now), 24*time.Hour))
	}
	return 0
}
