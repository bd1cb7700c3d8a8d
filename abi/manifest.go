package abi

// SectionManifest is the name of the custom section that holds the manifest:
// one JSON object of at most [MaxManifest] bytes.
const SectionManifest = "parley.manifest"

// The kinds of plugin.
const (
	KindProvider  = "provider"
	KindCollector = "collector"
	KindGuard     = "guard"
)

// A Manifest is what a plugin says of itself. It is read without running a
// byte of the module. Unknown members are skipped; package manifest finds them.
type Manifest struct {
	ABI         int      `json:"abi"`
	Kind        string   `json:"kind"`
	Name        string   `json:"name"`    // [a-z][a-z0-9-]{0,63}
	Version     string   `json:"version"` // semantic version without "v"
	Description string   `json:"description,omitempty"`
	License     string   `json:"license,omitempty"`
	Homepage    string   `json:"homepage,omitempty"`
	Features    []string `json:"features,omitempty"`
	Limits      Limits   `json:"limits,omitzero"`

	// Source is the value of a workspace's source setting that this provider
	// answers.
	Source string `json:"source,omitempty"`
	// Does lists what the provider can be asked for, since ABI 2: [OpChat] and so
	// on. Empty: chat alone.
	Does []string `json:"does,omitempty"`
	// Embed says how vectors are asked for, of a provider that does [OpEmbed].
	Embed Embed `json:"embed,omitzero"`
	// NoModel says that requests need not name a model: the provider has none,
	// or a setting decides it.
	NoModel bool `json:"noModel,omitempty"`
	// Accepts lists the types of content parts that the provider is given beside text:
	// image_url, input_audio, file.
	Accepts []string `json:"accepts,omitempty"`
	// FormatWithTools is "no" where a request cannot have tools and a response_format:
	// the host then asks for the format in a last round, without tools. FormatModels
	// are names and patterns of models of which it can.
	FormatWithTools string             `json:"formatWithTools,omitempty"`
	FormatModels    []string           `json:"formatWithToolsModels,omitempty"`
	Settings        map[string]Setting `json:"settings,omitempty"`
	Grants          Grants             `json:"grants,omitzero"`
	// Auth lists the ways in which the host signs in to the provider, since ABI 2:
	// the first one whose needed names are all set is used, unless encode names
	// another.
	Auth []Auth `json:"auth,omitempty"`
	// Options are settings of the plugin's own, by name, since ABI 2.
	Options map[string]Option `json:"options,omitempty"`
	// Timeouts are the plugin's own where the deployment's do not fit its
	// provider, since ABI 2; the deployment has the last word.
	Timeouts Timeouts `json:"timeouts,omitzero"`
	// Steps bounds the requests of one round, of a provider with [FeatureAgain].
	Steps Steps `json:"steps,omitzero"`

	// Events names the events that a collector is given; see package abi/event.
	Events []string `json:"events,omitempty"`
	// Message is what the collector's metrics are sent as: [MessageTrack],
	// the default, or [MessageIdentify].
	Message string `json:"message,omitempty"`
	// Metrics is all that a collector may say. Its order numbers the metrics.
	Metrics []Metric `json:"metrics,omitempty"`

	// Stages are those at which the guard may stand: [StageQuestion] and so on.
	Stages []string `json:"stages,omitempty"`
	// HoldBack is how many bytes of a stream the guard may keep, at most
	// [MaxHoldBack].
	HoldBack int `json:"holdBack,omitempty"`
	// Triggers say which pieces of a stream the guard must see; none: all. At most
	// [MaxTriggers].
	Triggers []Trigger `json:"triggers,omitempty"`
	// Notes are the labels that the guard may note. At most [MaxNotes].
	Notes []string `json:"notes,omitempty"`

	// SelfTest is what a host asks the plugin before it takes it up, in this
	// order. At most [MaxSelfTests].
	SelfTest []SelfTest `json:"selfTest,omitempty"`
}

// An Embed is what one request for vectors may carry, and which models make them.
type Embed struct {
	MaxTexts int `json:"maxTexts,omitempty"` // 1 to [MaxEmbedTexts]; 0: 64
	MaxBytes int `json:"maxBytes,omitempty"` // of all texts, 1 to [MaxEmbedBytes]; 0: 512 KiB
	// Models are names to choose from; the first one is that of an embedder that
	// names none. Others may be named.
	Models []string `json:"models,omitempty"`
}

// Bounds of an [Embed].
const (
	MaxEmbedTexts = 2048
	MaxEmbedBytes = 4 << 20
)

// MaxSelfTests bounds [Manifest.SelfTest].
const MaxSelfTests = 32

// A SelfTest is a call with the answer that is right. README.md of this package
// has the forms of both.
type SelfTest struct {
	Name   string  `json:"name,omitempty"` // for people
	Call   string  `json:"call"`           // [SelfTestEncode] and so on
	Input  RawJSON `json:"input"`
	Output RawJSON `json:"output"` // an object; members that it leaves out are not looked at
}

// The calls of a [SelfTest].
const (
	SelfTestEncode = "encode" // an [EncodeRequest], answered by an [EncodeResponse]
	SelfTestDecode = "decode" // {"events": [{"type", "data"}]}, answered by what the records come to
	SelfTestError  = "error"  // an [ErrorRequest], answered by a [ProviderError]
	SelfTestWindow = "window" // {"events": [{"event", "fields"}]}, answered by the metrics of a window of them
	SelfTestGuard  = "guard"  // {"options", "steps": [{"stage", "texts" or "pieces"}]}, answered by the texts, the notes and the block
)

// Limits is what a plugin asks for; the deployment may grant less.
type Limits struct {
	MemoryMiB int `json:"memoryMiB,omitempty"` // 0: the host's default, 16
	// FuelPerCall bounds what one call may do, in turns of loops, calls and
	// bytes moved in bulk as the host counts them; 0: only its time does.
	FuelPerCall int64 `json:"fuelPerCall,omitempty"`
}

// A Setting is a rule on one workspace setting, keyed by the setting's name in
// the API (apiKey, baseUrl, orgId, projectId, apiVersion, deploymentId).
type Setting struct {
	Required    bool   `json:"required,omitempty"`
	Description string `json:"description,omitempty"`
}

// Grants is what a plugin may reach.
type Grants struct {
	// HTTP lists origins (scheme://host[:port]) and, as "${baseUrl}", the
	// origin that the workspace's own baseUrl names.
	HTTP []string `json:"http,omitempty"`
	// Secrets names the settings that the host may put in place of ${name} in
	// a header value.
	Secrets []string `json:"secrets,omitempty"`
}

// GrantBaseURL in [Grants.HTTP] stands for the origin of the workspace's own
// baseUrl.
const GrantBaseURL = "${baseUrl}"

// magic is how a core module begins; a component has layer 1 in its version.
const magic = "\x00asm\x01\x00\x00\x00"

// IsModule reports whether b begins as a core WebAssembly module does.
func IsModule(b []byte) bool { return len(b) >= 8 && string(b[:8]) == magic }

// IsComponent reports whether b begins as a WebAssembly component does.
func IsComponent(b []byte) bool {
	return len(b) >= 8 && string(b[:4]) == magic[:4] && b[6] == 1 && b[7] == 0
}

// Sections returns the payloads of all custom sections of module called name,
// as parts of module, or [ErrMalformed] where the sections do not add up.
func Sections(module []byte, name string) ([][]byte, error) {
	if !IsModule(module) {
		return nil, ErrMalformed
	}
	var found [][]byte
	for b := module[8:]; len(b) > 0; {
		id := b[0]
		size, n := readULEB(b[1:])
		if n == 0 || uint64(len(b)-1-n) < uint64(size) {
			return nil, ErrMalformed
		}
		body := b[1+n : 1+n+int(size)]
		b = b[1+n+int(size):]
		if id != 0 {
			continue
		}
		l, n := readULEB(body)
		if n == 0 || uint64(len(body)-n) < uint64(l) {
			return nil, ErrMalformed
		}
		if string(body[n:n+int(l)]) == name {
			found = append(found, body[n+int(l):])
		}
	}
	return found, nil
}

// WithSection returns a copy of module in which payload is the one custom
// section called name, at the end. Sections of that name that were there are
// left out.
func WithSection(module []byte, name string, payload []byte) ([]byte, error) {
	if !IsModule(module) {
		return nil, ErrMalformed
	}
	out := append(make([]byte, 0, len(module)+len(name)+len(payload)+16), module[:8]...)
	for b := module[8:]; len(b) > 0; {
		size, n := readULEB(b[1:])
		if n == 0 || uint64(len(b)-1-n) < uint64(size) {
			return nil, ErrMalformed
		}
		whole := b[:1+n+int(size)]
		b = b[len(whole):]
		if whole[0] == 0 {
			body := whole[1+n:]
			if l, k := readULEB(body); k > 0 && uint64(len(body)-k) >= uint64(l) && string(body[k:k+int(l)]) == name {
				continue
			}
		}
		out = append(out, whole...)
	}
	body := append(appendULEB(nil, uint32(len(name))), name...)
	body = append(body, payload...)
	out = appendULEB(append(out, 0), uint32(len(body)))
	return append(out, body...), nil
}

// readULEB reads an unsigned LEB128 number of 32 bits; n is 0 where there is none.
func readULEB(b []byte) (v uint32, n int) {
	for i := 0; i < 5 && i < len(b); i++ {
		v |= uint32(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

func appendULEB(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b, v = append(b, byte(v)|0x80), v>>7
	}
	return append(b, byte(v))
}
