package abi

// The JSON types of a provider's calls. They carry tags and import nothing, so
// that a guest may read them with whatever parser it likes.

// An EncodeRequest asks a provider for the HTTP request of one round.
type EncodeRequest struct {
	Settings Settings `json:"settings"`
	// Chat is the request as OpenAI's API has it: what the client sent, with
	// the workspace's parameters merged under it, its system prompt in front,
	// the host's own function among the tools, stream true and, from the
	// second round on, the calls so far and their answers among the messages.
	Chat RawJSON `json:"chat"`
	// Round counts from 0 within one answer; Attempt counts from 0 within one
	// round.
	Round   int `json:"round"`
	Attempt int `json:"attempt"`
	// Carry holds one entry a round before this one: what that round's carry
	// records held, joined, in base64.
	Carry []string `json:"carry,omitempty"`
	// Options holds the plugin's own settings, since ABI 2: values, with defaults
	// filled in, and of each secret that is set, apiKey among them, true.
	Options map[string]RawJSON `json:"options,omitempty"`
}

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
// a header that the response does not have is left out.
type Head struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
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
// 64 KiB.
type ErrorRequest struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// A ProviderError is a provider's failure in the one form that the host knows.
// It is also the payload of a [RecordError].
type ProviderError struct {
	Kind         string `json:"kind"`
	Message      string `json:"message"`
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
)
