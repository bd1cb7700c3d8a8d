package abi

// An Auth is a way in which the host signs in to a provider, so that no plugin
// sees a secret. Its texts may hold ${name} for a setting or an option, and
// ${name?} for one that may be unset; each scheme has members of its own.
type Auth struct {
	Name   string `json:"name"`   // by which encode may choose it; unique
	Scheme string `json:"scheme"` // [AuthHeader] and so on
	// Origins are those of grants.http that it is good for; empty: all.
	Origins []string `json:"origins,omitempty"`

	// Of AuthHeader: the header's name. Of AuthQuery: the parameter's.
	Header    string `json:"header,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	Value     string `json:"value,omitempty"` // of both; of AuthBasic, AuthToken and AuthJWT, where it may be left out
	// Of AuthBasic.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// Of AuthAWSSigV4.
	Service         string `json:"service,omitempty"`
	Region          string `json:"region,omitempty"`
	AccessKeyID     string `json:"accessKeyId,omitempty"`
	SecretAccessKey string `json:"secretAccessKey,omitempty"`
	SessionToken    string `json:"sessionToken,omitempty"`
	// Of AuthGCPServiceAccount: the service account's key file, which is JSON, and the
	// name of the option that is the file's project_id where it is unset.
	Credentials string `json:"credentials,omitempty"`
	Project     string `json:"project,omitempty"`
	// Of AuthOAuth2ClientCredentials.
	TokenURL     string            `json:"tokenUrl,omitempty"`
	ClientID     string            `json:"clientId,omitempty"`
	ClientSecret string            `json:"clientSecret,omitempty"`
	Parameters   map[string]string `json:"parameters,omitempty"` // further ones of the token request
	// Of the two before.
	Scopes []string `json:"scopes,omitempty"`
	// Of AuthToken, beside TokenURL: what is asked of it, and a template of its answer
	// with "{{token}}" and perhaps "{{seconds}}" or "{{expires}}". Header and Value, where
	// ${token} stands for the token, default to Authorization and "Bearer ${token}".
	TokenRequest TokenRequest `json:"tokenRequest,omitzero"`
	TokenAnswer  RawJSON      `json:"tokenAnswer,omitempty"`
	// Of AuthHMAC: the hash, the key, the text that is signed, how the signature is
	// written, and the headers that carry it as ${signature}.
	Hash string `json:"hash,omitempty"` // sha256, sha512 or sha1
	// Key and how it is written, hex or base64, text unless given; also of AuthJWT.
	Key         string            `json:"key,omitempty"`
	KeyEncoding string            `json:"keyEncoding,omitempty"`
	Text        string            `json:"text,omitempty"`
	Encoding    string            `json:"encoding,omitempty"` // hex, the default, or base64
	Headers     map[string]string `json:"headers,omitempty"`
	// Of AuthJWT: HS256, RS256 or ES256; the key's id, if the server wants it; the
	// claims beside iat and exp; how long it is good, 1 to 3600 seconds.
	Algorithm string            `json:"algorithm,omitempty"`
	KeyID     string            `json:"keyId,omitempty"`
	Claims    map[string]string `json:"claims,omitempty"`
	Seconds   int               `json:"seconds,omitempty"`
}

// A TokenRequest is what a token server is asked: by POST unless Method is GET; its body
// is Form or JSON, or nothing.
type TokenRequest struct {
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Form    map[string]string `json:"form,omitempty"`
	JSON    RawJSON           `json:"json,omitempty"` // an object, whose strings are texts
}

// The schemes of an [Auth].
const (
	AuthHeader                  = "header"                  // sets a header
	AuthQuery                   = "query"                   // appends a parameter to the URL
	AuthBasic                   = "basic"                   // RFC 7617
	AuthAWSSigV4                = "awsSigV4"                // signs the request as it is sent
	AuthGCPServiceAccount       = "gcpServiceAccount"       // Bearer, for a signed JWT
	AuthOAuth2ClientCredentials = "oauth2ClientCredentials" // Bearer; RFC 6749, section 4.4
	// Since the feature of the same name.
	AuthToken = "token" // a token that a server gives for secrets
	AuthHMAC  = "hmac"  // signs a text that is made of the request
	AuthJWT   = "jwt"   // a token that the host signs
	// AuthPlaceholder is what grants.secrets of ABI 1 comes to: the host replaces
	// ${apiKey} in header values. No manifest may name it.
	AuthPlaceholder = "placeholder"
)

// AuthNone in an [EncodeResponse] says that the request is sent as it stands.
const AuthNone = "none"

// MaxAuth bounds [Manifest.Auth].
const MaxAuth = 8

// An Option is a setting of the plugin's own, with its rules.
type Option struct {
	Type string `json:"type"` // string, integer, number or boolean
	// Of strings: what it may be; its length in characters; RE2 that the whole
	// value matches.
	Enum      []string `json:"enum,omitempty"`
	MinLength *int     `json:"minLength,omitempty"`
	MaxLength *int     `json:"maxLength,omitempty"`
	Pattern   string   `json:"pattern,omitempty"`
	// Of numbers.
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`

	Default     RawJSON `json:"default,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Secret      bool    `json:"secret,omitempty"` // of strings: sealed, and never given to the guest
	Description string  `json:"description,omitempty"`
}

// The types of an [Option].
const (
	OptionString  = "string"
	OptionInteger = "integer"
	OptionNumber  = "number"
	OptionBoolean = "boolean"
)

// Bounds of options.
const (
	MaxOptions      = 32
	MaxOptionValue  = 8 << 10  // bytes
	MaxOptionSecret = 16 << 10 // bytes
)

// Timeouts are how long a provider may take, in seconds; 0: as the deployment
// says.
type Timeouts struct {
	FirstByteSeconds int `json:"firstByteSeconds,omitempty"` // from the request to the head of its response
	SilenceSeconds   int `json:"silenceSeconds,omitempty"`   // between bytes of its body
}

// MaxTimeoutSeconds bounds what a manifest may ask for.
const MaxTimeoutSeconds = 3600
