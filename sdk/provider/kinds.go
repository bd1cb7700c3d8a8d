package provider

import (
	"strings"

	"github.com/parley-search/parley/abi"
)

// The kinds of a [ProviderError]; abi/README.md, section Error, says which status and
// code the client gets for each.
const (
	ErrorAuth           = abi.ErrorAuth           // the key is wrong or missing
	ErrorPermission     = abi.ErrorPermission     // the key may not do this
	ErrorNotFound       = abi.ErrorNotFound       // no such model, deployment or address
	ErrorInvalidRequest = abi.ErrorInvalidRequest // the request is not one that the API takes
	ErrorContextLength  = abi.ErrorContextLength  // the conversation is too long for the model
	ErrorRateLimit      = abi.ErrorRateLimit      // too many requests for now
	ErrorQuota          = abi.ErrorQuota          // no money or quota left: no time to wait helps
	ErrorContentFilter  = abi.ErrorContentFilter  // the provider refused what was said
	ErrorOverloaded     = abi.ErrorOverloaded     // the provider is busy: ask again
	ErrorUpstream       = abi.ErrorUpstream       // anything else that went wrong at the provider
	ErrorTimeout        = abi.ErrorTimeout        // the provider ran out of time
	ErrorPlugin         = abi.ErrorPlugin         // the plugin could not go on; the message goes to the host's log
)

// Errorf returns the error of a response, to end it from Decode or to be the result of
// Error: a kind, such as [ErrorUpstream], and what the provider said. Each %s in format
// stands for one of args. It does without fmt, which is an eighth of a guest's size.
func Errorf(kind, format string, args ...string) ProviderError {
	var message strings.Builder
	for _, arg := range args {
		before, after, ok := strings.Cut(format, "%s")
		if !ok {
			break
		}
		message.WriteString(before)
		message.WriteString(arg)
		format = after
	}
	message.WriteString(format)
	return ProviderError{Kind: kind, Message: message.String()}
}
