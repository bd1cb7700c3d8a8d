package abi

// The JSON types of a provider's calls. They carry tags and import nothing, so
// that a guest may read them with whatever parser it likes.

// An EncodeRequest asks a provider for the HTTP request of one round.
type EncodeRequest struct {
	Settings Settings `json:"settings"`
	// Op is what the request is for: [OpChat], which is also meant where it is
	// empty, or one of the others that the manifest says the plugin does.
	Op string `json:"op,omitempty"`
	// Chat is the request as OpenAI's API has it: what the client sent, with
	// the workspace's parameters merged under it, its system prompt in front,
	// the host's own function among the tools, stream true and, from the
	// second round on, the calls so far and their answers among the messages.
	// It is there for [OpChat] alone.
	Chat RawJSON `json:"chat,omitempty"`
	// Round counts from 0 within one answer; Attempt counts from 0 within one
	// round.
	Round   int `json:"round"`
	Attempt int `json:"attempt"`
	// Carry holds an entry, in base64, for each of the last messages of Chat that
	// make calls: what the carry records of the round that made them held, joined.
	// They are the rounds of this answer before this one and, before those, the last
	// round of an earlier answer that the client goes on from. One is empty where
	// nothing is known of it.
	Carry []string `json:"carry,omitempty"`
	// TextCarry is the same for the last messages of an assistant that make no calls,
	// since ABI 2: each is the last round of an earlier answer, or the round of this one
	// whose text is put into a response format now.
	TextCarry []string `json:"textCarry,omitempty"`
	// Options holds the plugin's own settings, since ABI 2: values, with defaults
	// filled in, and of each secret that is set, apiKey among them, true.
	Options map[string]RawJSON `json:"options,omitempty"`
	// Step counts the requests of one round, from 0, of a plugin with [FeatureAgain].
	// StepCarry is, in base64, what the carry records of the response before this step
	// held, joined; where that had none, what the step before was given.
	Step      int    `json:"step,omitempty"`
	StepCarry string `json:"stepCarry,omitempty"`
	// Cancelled says that the answer has ended before the provider's work: the request
	// calls that off, and nothing reads its response. See [Again].
	Cancelled bool `json:"cancelled,omitempty"`
	// RequestID is the id of the client's request, for a plugin with
	// [FeatureRequestID]. With Round and Step it names a request to the provider; the
	// attempts at one have the same.
	RequestID string `json:"requestId,omitempty"`
	// Next, of [OpModels], is what led to this page of the list; empty: it is the
	// first one.
	Next string `json:"next,omitempty"`

	// Of [OpEmbed]: the texts that vectors are wanted of; by which model; how many
	// numbers each is to have, 0: as many as the model makes; and what the texts are,
	// [InputDocument] or [InputQuery].
	Texts      []string `json:"texts,omitempty"`
	Model      string   `json:"model,omitempty"`
	Dimensions int      `json:"dimensions,omitempty"`
	InputType  string   `json:"inputType,omitempty"`
}

// What a provider can be asked a request for, since ABI 2; a manifest's does names
// those that it can do.
const (
	OpChat   = "chat"
	OpEmbed  = "embed"  // vectors of texts
	OpModels = "models" // which models there are
)

// What texts are that vectors are wanted of.
const (
	InputDocument = "document"
	InputQuery    = "query"
)

// Settings is what a provider sees of a workspace. A field that is not set is
// left out.
type Settings struct {
	OrgID        string `json:"orgId,omitempty"`
	ProjectID    string `json:"projectId,omitempty"`
	APIVersion   string `json:"apiVersion,omitempty"`
	DeploymentID string `json:"deploymentId,omitempty"`
	BaseURL      string `json:"baseUrl,omitempty"`
	// APIKey is, in ABI 1, the text "${apiKey}" where a key is set, never the key.
	// Put it in a header value; the host replaces it after the sandbox. In ABI 2
	// it is left out: the manifest's auth says where the key goes.
	APIKey string `json:"apiKey,omitempty"`
}

// PlaceholderAPIKey stands for the workspace's key in a header value.
const PlaceholderAPIKey = "${apiKey}"

// An EncodeResponse is an HTTP request for the host to send, or a reply that
// needs none.
type EncodeResponse struct {
	Method  string            `json:"method,omitempty"` // default POST
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Body is sent as it stands where it is an object or an array; a JSON
	// string is sent as its text.
	Body RawJSON `json:"body,omitempty"`
	// Framing says how the response is cut into events: FramingSSE and so on;
	// default FramingAuto.
	Framing string `json:"framing,omitempty"`
	// Answer, of an op that is not [OpChat], is a template of the response, by which
	// the host reads it; see package abi/answer. No such response is decoded. Since
	// ABI 2.
	Answer RawJSON `json:"answer,omitempty"`
	// Reply, where present, is handed to decode as the data of one event that
	// is first and last; nothing is sent.
	Reply *string `json:"reply,omitempty"`
	// Auth names the entry of the manifest's auth that signs this request, or is
	// [AuthNone]; empty: the first one whose needed names are all set. Since ABI 2.
	Auth string `json:"auth,omitempty"`
	// Head names headers of a successful response, at most [MaxHead]: the first
	// event is then of type [EventHead] and holds a [Head]. Since ABI 2.
	Head []string `json:"head,omitempty"`
	// FirstByteSeconds lowers what the deployment, or the manifest, gives the
	// provider for the head of its response; 0: as they say. Since ABI 2.
	FirstByteSeconds int `json:"firstByteSeconds,omitempty"`
}

// MaxHead bounds [EncodeResponse.Head].
const MaxHead = 16

// EventHead is the type of the event that holds a [Head]. Types that begin with
// a colon are the host's.
const EventHead = ":head"

// A Head is the data of an event of type [EventHead]. Names are in lower case;
// a header that the response does not have is left out. Round is that of the
// request, see [EncodeRequest].
type Head struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Round   int               `json:"round"`
}

// EventText is the type of an event of [FramingJSONLines] whose line is not JSON.
const EventText = ":text"

// The framings of a response.
const (
	FramingAuto      = "auto" // by content type and first byte
	FramingSSE       = "sse"
	FramingJSONLines = "jsonLines"
	FramingJSONArray = "jsonArray"
	// FramingAWSEventStream is binary: an event a message. Its type is the
	// message's :event-type, ":exception:" with its :exception-type, or ":error:"
	// with its :error-code; the data of the last is {"message"}. Since ABI 2.
	FramingAWSEventStream = "awsEventStream"
)

// RawJSON is a JSON value as it stands; it needs no package to be one.
type RawJSON []byte

// MarshalJSON returns r itself, null where it is empty.
func (r RawJSON) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps a copy of b.
func (r *RawJSON) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0], b...)
	return nil
}

// An ErrorRequest is an HTTP response that is not a success, for the provider
// to say what it means. Header names are in lower case; the body is cut at
// 64 KiB, and an object or array that was cut is closed.
type ErrorRequest struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// A ProviderError is a provider's failure in the one form that the host knows.
// It is also the payload of a [RecordError].
type ProviderError struct {
	Kind         string `json:"kind"`
	Message      string `json:"message"`          // the provider's own
	Advice       string `json:"advice,omitempty"` // the plugin's: a sentence that says what to do about it
	ProviderCode string `json:"provider_code,omitempty"`
	RetryAfterMS int64  `json:"retry_after_ms,omitempty"`
}

// The kinds of a [ProviderError].
const (
	ErrorAuth           = "auth"
	ErrorPermission     = "permission"
	ErrorNotFound       = "not_found"
	ErrorInvalidRequest = "invalid_request"
	ErrorContextLength  = "context_length"
	ErrorRateLimit      = "rate_limit"
	ErrorQuota          = "quota"
	ErrorContentFilter  = "content_filter"
	ErrorOverloaded     = "overloaded"
	ErrorUpstream       = "upstream"
	ErrorTimeout        = "timeout"
	// ErrorPlugin: the plugin could not go on. Its message is for the host's log, and
	// the client is told so in the host's own words.
	ErrorPlugin = "plugin"
)
