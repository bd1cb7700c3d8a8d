// Package provider is the Go SDK for provider plugins.
//
// A provider is three pure functions: a chat request becomes an HTTP request,
// events of the response become records, a response that is not a success
// becomes a [ProviderError]. It does no I/O, keeps nothing between calls and
// never sees a key; the host does the rest. The whole of a plugin's main.go:
//
//	func init() { provider.Register(echo{}) }
//	func main() {}
//
// Everything that touches the sandbox stands in files that are built for
// wasip1 alone, so a provider is tested as plain Go; see package plugintest.
//
// # Speed
//
// Decode runs once for every few letters of an answer. In a guest, loops over
// bytes, calls and allocations are about eight times dearer than in native
// code, and encoding/json or fmt a hundred times: use bytes.IndexByte, package
// rawjson, and scratch buffers that live in the provider's value. An instance
// serves one call at a time, so scratch needs no lock; but what it holds means
// nothing in the next call, which may be another stream's.
package provider

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A Provider is one LLM API. S is its state of one response: any struct
// without pointers, which begins as zero and is carried from call to call as
// bytes. Use struct{} where there is none.
type Provider[S any] interface {
	// Encode returns the HTTP request of one round. An error made by [Refuse]
	// tells the client what is wrong with its request; the text of another one goes
	// to the host's log.
	Encode(r *Request) (HTTPRequest, error)

	// Decode turns one event of the response into records. It is called once
	// more, with e.End set, when the response has ended. An error ends the
	// response. A [ProviderError] is told to the client, see [Errorf]; the text of
	// another one goes to the host's log, and the client is told that the plugin
	// could not go on.
	Decode(s *S, e Event, out *Out) error

	// Error says what a response that is not a success means.
	Error(r *Response) ProviderError
}

// A ModelLister is a [Provider] that can say which models there are; its manifest
// has "does": ["chat", "models"].
type ModelLister interface {
	// Models returns the HTTP request of one page of the list, with Answer in it.
	// r has Settings, Options and Next.
	Models(r *Request) (HTTPRequest, error)
}

// An Embedder is a [Provider] that makes vectors of texts; its manifest has
// "does": ["chat", "embed"], and in embed what one request may carry.
type Embedder interface {
	// Embed returns the HTTP request for the vectors of r.Texts, with Answer in it.
	// r has Settings, whose BaseURL is the index embedder's url, Options, Texts,
	// Model, Dimensions and InputType. Where Answer has "{{embedding}}" in no array
	// that repeats, the host asks again with one text.
	Embed(r *Request) (HTTPRequest, error)
}

// A Patterned is a [Provider] that knows of which events it would make a piece of
// text and nothing else. The host then makes those records by itself, which
// takes a twentieth of the time.
type Patterned[S any] interface {
	// Pattern is called behind the last Decode of a call, where the host takes
	// patterns and the response goes on: out.Pattern tells the host of one.
	// What the state holds for it may be dropped.
	Pattern(s *S, out *Out)
}

// A Request asks for the HTTP request of one round, or of another op.
type Request struct {
	Op       string // abi.OpChat and so on
	Settings Settings
	// Chat is the request as OpenAI's API has it, checked to be an object.
	// stream is true; the workspace's parameters, system prompt and search
	// function are in it, and from the second round on the calls so far with
	// their answers.
	Chat    rawjson.Value
	Round   int      // of this answer, from 0
	Attempt int      // of this round, from 0
	Carry   [][]byte // what [Out.Carry] kept, one entry for each of the last messages with calls; may be empty
	// TextCarry is the same for the last messages of an assistant without calls.
	TextCarry [][]byte
	// Step counts the requests of this round, from 0: see [Out.Again]. StepCarry is what
	// [Out.Carry] kept of the response before this step; where that kept nothing, it is
	// what the step before had.
	Step      int
	StepCarry []byte
	// Cancelled says that the answer has ended early: the request calls off what the
	// provider still does. Nothing reads its response.
	Cancelled bool
	// RequestID is the id of the client's request, where the manifest's features have
	// "requestId". With Round and Step it makes an idempotency key.
	RequestID string
	// Options are the settings that the manifest declares, with defaults filled
	// in; of a secret that is set, "apiKey" among them, there is true. Of a plugin
	// of ABI 1 there are none.
	Options rawjson.Value
	// Next, of a list of models, is what stood in the place "{{next}}" of the page
	// before; empty: this is the first page.
	Next string

	// Of vectors: an array of texts, at least one; the model that the embedder
	// names, or the manifest's first one; how many numbers a vector is to have, 0
	// where nothing is said; abi.InputDocument or abi.InputQuery.
	Texts      rawjson.Value
	Model      string
	Dimensions int
	InputType  string
}

// Option returns an option as text: a string's own, a number's digits, true or
// false; "" where it is not set.
func (r *Request) Option(name string) string {
	v := r.Options.Get(name)
	if v.Kind() == rawjson.String {
		return v.String()
	}
	return string(v)
}

// IsSet reports whether an option, or a secret, is set.
func (r *Request) IsSet(name string) bool { return len(r.Options.Get(name)) > 0 }

// Settings is what a provider sees of its workspace: OrgID, ProjectID, APIVersion,
// DeploymentID, BaseURL and APIKey, all strings. In ABI 1 APIKey is the text
// "${apiKey}" where a key is set, for a header's value; never the key. In ABI 2 it
// is empty: the manifest's auth says where the key goes.
type Settings = abi.Settings

// An HTTPRequest is what the host sends.
type HTTPRequest struct {
	Method  string // default POST
	URL     string
	Headers []Header
	Body    []byte // JSON: an object or array goes out as it stands, of a string its text
	Framing string // abi.FramingSSE and so on; default FramingAuto

	// Since ABI 2: the entry of the manifest's auth that signs the request, or
	// abi.AuthNone; the response's headers that the first event is to hold, whose
	// type is abi.EventHead.
	Auth string
	Head []string
	// FirstByteSeconds lowers how long the provider may take for the head of its
	// response; 0: as the manifest or the deployment says.
	FirstByteSeconds int
	// Answer is JSON: what the response looks like, with "{{model}}" and the like in
	// it. The host reads the response by it, and Decode is not called; see package
	// abi/answer. For every op but chat.
	Answer string

	// Reply, where not nil, is UTF-8 text that goes straight to Decode as the
	// data of one event; nothing is sent.
	Reply []byte
}

// A Header is one of a request's headers. A name stands there once.
type Header struct{ Name, Value string }

// An Event is one event of a response. Its slices are good until Decode
// returns.
type Event struct {
	Type []byte // of an SSE event; mostly empty
	Data []byte
	// End says that the response has ended, and that there is no data.
	End bool
	// Cancelled says, beside End, that it was ended by the client or by a
	// fault, not by the provider. No host sets it yet: it gives no further call.
	Cancelled bool
}

// A Response is an HTTP response that is not a success.
type Response struct {
	Status  int
	Headers rawjson.Value // an object; names in lower case
	Body    []byte        // at most 64 KiB of it
}

// Header returns the value of the header called name, "" where there is none.
func (r *Response) Header(name string) string { return r.Headers.Get(name).String() }

// A ProviderError is a provider's failure in the one form that the host knows. It has
// Kind, such as [ErrorUpstream]; Message, the provider's own, which may be empty; and
// perhaps Advice, a sentence of the plugin's own; ProviderCode; and RetryAfterMS, an int64.
type ProviderError = abi.ProviderError

// Usage counts tokens: Prompt, Completion and Total, and of these Cached (of Prompt) and
// Reasoning (of Completion). Each is a uint64.
type Usage = abi.Usage

// An Again says how a step goes on: AfterMS, an int, is how many milliseconds the host
// waits before it asks again. Cancel, a bool, says that the provider goes on working
// where nobody asks: Encode is then asked for a request that calls the work off, where
// the answer ends early.
type Again = abi.Again

// Refuse returns an error for Encode whose text is meant for the client: a
// sentence that names the field and the remedy.
func Refuse(sentence string) error { return &refusal{sentence} }

type refusal struct{ sentence string }

func (r *refusal) Error() string { return r.sentence }
