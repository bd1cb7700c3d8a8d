package main

import (
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// Error implements [provider.Provider].
func (*bedrock) Error(r *provider.Response) provider.ProviderError {
	e := openai.Error(r)
	v, _ := rawjson.Parse(r.Body)
	if text := v.Get("Message").String(); text != "" && e.Message == "" {
		e.Message = text
	}
	name := exceptionName(r.Header("x-amzn-errortype"))
	if name == "" {
		name = exceptionName(v.Get("__type").String())
	}
	switch {
	case name != "": // what follows
	case r.Status == 403 && isUnsigned(e.Message):
		e.Kind = abi.ErrorAuth
	case r.Status == 424: // the model's own host failed, which no status of HTTP says
		e.Kind = abi.ErrorUpstream
	}
	if kind := kindOf(name, e.Message); kind != "" {
		e.Kind = kind
	}
	if name != "" {
		e.ProviderCode = name
	}
	if e.Kind == abi.ErrorAuth && (strings.Contains(e.Message, "Signature expired") || strings.Contains(e.Message, "not yet current")) {
		e.Message += " The clock of the host is wrong: set it."
	}
	return e
}

// exceptionName returns the name in a type such as prefix#Name:http://….
func exceptionName(s string) string {
	s, _, _ = strings.Cut(s, ":")
	return s[strings.LastIndexByte(s, '#')+1:]
}

// kindOf sorts an exception, whatever the case of its first letter; "" for one that
// is not known.
func kindOf(name, message string) string {
	if tooLong(message) {
		return abi.ErrorContextLength
	}
	if name == "" {
		return ""
	}
	switch strings.ToUpper(name[:1]) + name[1:] {
	case "UnrecognizedClientException", "ExpiredTokenException", "InvalidSignatureException", "IncompleteSignatureException", "MissingAuthenticationTokenException":
		return abi.ErrorAuth
	case "AccessDeniedException":
		return abi.ErrorPermission
	case "ResourceNotFoundException":
		return abi.ErrorNotFound
	case "ThrottlingException":
		return abi.ErrorRateLimit
	case "ModelNotReadyException", "ServiceUnavailableException":
		return abi.ErrorOverloaded
	case "ModelTimeoutException":
		return abi.ErrorTimeout
	case "ServiceQuotaExceededException":
		return abi.ErrorQuota
	case "ValidationException":
		return abi.ErrorInvalidRequest
	case "ModelErrorException", "ModelStreamErrorException", "InternalServerException":
		return abi.ErrorUpstream
	}
	return ""
}

// isUnsigned reports whether the message of a 403 whose type a proxy dropped says that
// keys or the signature are wrong, and not what they may do.
func isUnsigned(message string) bool {
	text := strings.ToLower(message)
	return strings.Contains(text, "security token") || strings.Contains(text, "signature") || strings.Contains(text, "authentication token")
}

// tooLong reports whether an error says that the conversation is too long.
func tooLong(message string) bool {
	text := strings.ToLower(message)
	return strings.Contains(text, "input tokens exceeded") || strings.Contains(text, "input is too long") || strings.Contains(text, "prompt is too long") ||
		strings.Contains(text, "too many input tokens") || strings.Contains(text, "maximum context length") || strings.Contains(text, "context limit")
}

// streamError is the failure that ends a stream.
func streamError(name string, v rawjson.Value) error {
	message := v.Get("message").String()
	if message == "" { // the words of the model's own host
		message = v.Get("originalMessage").String()
	}
	e := provider.ProviderError{Kind: kindOf(name, message), Message: message, ProviderCode: name}
	if e.Kind == "" {
		e.Kind = abi.ErrorUpstream
	}
	return e
}
