package abi

// The codes of a declared error (see [Span]). A host treats one that it does
// not know as [CodeFailed].
const (
	// CodeMalformed: what the host sent is not what this contract says.
	CodeMalformed = 1
	// CodeRefused: the client's request cannot be put to this provider; the
	// message is a sentence for the client.
	CodeRefused = 2
	// CodeFailed: anything else; the message is for the log.
	CodeFailed = 3
)

// Error returns e's kind and message, so that a ProviderError is an error.
func (e ProviderError) Error() string { return e.Kind + ": " + e.Message }
