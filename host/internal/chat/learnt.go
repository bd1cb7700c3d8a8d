package chat

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

// A lack is what a model cannot do, as its provider has said in a refusal.
type lack uint16

const (
	lacksTools           lack = 1 << iota // it takes no tools
	lacksFormatWithTools                  // it takes no response_format beside them
	lacksStreamOptions                    // it takes no stream_options
	lacksMaxTokens                        // it takes max_completion_tokens instead
	lacksMaxCompletion                    // it takes max_tokens instead
	lacksContent                          // it takes reasoning instead of reasoning_content in messages
	lacksReasoning                        // it takes no reasoning in messages
	lacksBare                             // it takes no message of an assistant without reasoning_content
	lacksSystems                          // it takes one system message, the first
)

// renamed are the parameters that a model lacks, which can be asked for otherwise.
const renamed = lacksStreamOptions | lacksMaxTokens | lacksMaxCompletion | lacksSystems | ofReasoning

// ofReasoning are those of the reasoning in messages.
const ofReasoning = lacksContent | lacksReasoning | lacksBare

// A learner keeps what models cannot do, so that each caller is refused once. What one of them is told counts for it
// alone: a provider's refusal may quote the request, and say whatever a client wants it to say. Its zero value is ready;
// safe for concurrent use.
type learner struct {
	mu    sync.Mutex
	lacks map[modelAt]lack
}

// A modelAt is a model where a workspace's plugin asks for it, for a caller.
type modelAt struct{ plugin, baseURL, model, caller string }

// maxLearnt bounds how much is kept: a client may name any model.
const maxLearnt = 10_000

func (l *learner) of(at modelAt) lack {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lacks[at]
}

func (l *learner) learn(at modelAt, what lack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lacks == nil || len(l.lacks) >= maxLearnt {
		l.lacks = map[modelAt]lack{}
	}
	l.lacks[at] |= what
}

// lackIn reads from a provider's refusal, in its own words, what the model cannot do;
// 0 where it says nothing of that.
func lackIn(message string) lack {
	message = strings.ToLower(message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(message, w) {
				return true
			}
		}
		return false
	}
	if has("reasoning_content", "reasoning content") && has("passed back", "missing", "must include", "must be included", "must be provided", "is required") {
		return lacksBare
	}
	if has("system message must be", "system messages are", "multiple system messages", "system role must", "incorrect role information") {
		return lacksSystems
	}
	if has("not support", "unsupported", "unrecognized", "unknown", "unexpected", "not permitted", "not allowed", "extra ") {
		limit, whole := strings.Index(message, "max_tokens"), strings.Index(message, "max_completion_tokens")
		switch {
		case has("reasoning_content"):
			return lacksContent
		case has("reasoning_details", "'reasoning'", `"reasoning"`, "`reasoning`") || reasoningMember.MatchString(message):
			return lacksReasoning
		case has("stream_options"):
			return lacksStreamOptions
		case limit >= 0 && (whole < 0 || limit < whole):
			return lacksMaxTokens
		case whole >= 0:
			return lacksMaxCompletion
		}
	}
	if !has("tool", "function") || !has("not support", "n't support", "unsupported", "not enabled", "not available", "not allowed", "not permitted",
		"not compatible", "incompatible", "cannot", "can't", "can not", "requires", "no endpoints", "either", "mutually exclusive", "without") {
		return 0
	}
	if has("response_format", "response format", "response mime type", "responsemimetype", "response_mime_type", "json mode", "json_schema", "json schema",
		"json_object", "structured output", "output format", "guided", "grammar", "format") {
		return lacksFormatWithTools
	}
	if has("tool_choice", "tool choice", "parallel", "strict", "schema", "parameter ") && !has("auto tool choice", "\"auto\" tool choice") {
		return 0 // of how they are used
	}
	return lacksTools
}

// reasoningMember is reasoning at the end of a path, such as messages.1.reasoning, and no
// other name that begins so.
var reasoningMember = regexp.MustCompile(`\.reasoning(?:[^\w.]|\.?(?:\s|$))`)

// adaptToModel begins a round anew where the provider's refusal says that the model
// cannot do what the host asked of it beside the client's request: have tools, have
// them with a format, take a parameter that has another name as well, or read the
// reasoning of earlier messages. The round must not have begun to answer.
func (a *Answer) adaptToModel(cause error) bool {
	e, ok := errors.AsType[*apierr.Error](cause)
	if !ok || a.ctx.Err() != nil {
		return false
	}
	if e.Code != chaterr.LLMProviderRejectedRequest && e.Code != chaterr.LLMProviderError {
		return false
	}
	f, ok := errors.AsType[*Failure](e)
	if !ok || f.Kind == abi.ErrorContextLength || f.Kind == abi.ErrorContentFilter || strings.HasPrefix(f.Kind, "plugin_") || strings.HasPrefix(f.Kind, "network_") {
		return false
	}
	lacks, searches := lackIn(e.Message), len(a.talk.indexes) > 0
	if a.outcome.Rounds != 1 && lacks&(ofReasoning|lacksSystems) == 0 {
		return false // of all others the first round would have been refused
	}
	switch {
	case lacks&renamed != 0 && a.mayRename(lacks) && a.talk.rename(lacks):
	case lacks == lacksFormatWithTools && searches && a.talk.deferFormat():
	case lacks == lacksTools && searches && len(a.talk.tools) == 0 && a.talk.before == nil:
		a.talk.before = &beforehand{}
	default:
		return false
	}
	a.adapted |= lacks
	a.endRound(cause)
	a.outcome.Rounds--
	a.outcome.Retries++
	return true
}

// mayRename reports whether the provider has refused neither this before, though the round was changed by that, nor the
// other name of a limit: one that wants what it refuses would be asked without end.
func (a *Answer) mayRename(lacks lack) bool {
	const limits = lacksMaxTokens | lacksMaxCompletion
	return a.adapted&lacks == 0 && (lacks&limits == 0 || (a.adapted|a.deps.learnt.of(a.modelAt(a.model, a.asked.Caller)))&limits&^lacks == 0)
}

// learnAdapted keeps what the model lacks, once it answers what was asked without that: a
// refusal may have been of something else that this client sent, and must not decide for others.
func (a *Answer) learnAdapted() {
	if a.adapted != 0 {
		a.deps.learnt.learn(a.modelAt(a.model, a.asked.Caller), a.adapted)
		a.adapted = 0
	}
}

// modelAt is a model that l asks for a caller.
func (l link) modelAt(model string, caller *auth.Caller) modelAt {
	return modelAt{l.manifest.Name, l.workspace.BaseURL, model, caller.ID()}
}
