// Package manifest reads manifests and holds them to the contract. Host, build
// command and test kit share it; no guest needs it.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
)

// maxMemoryMiB is what a manifest may ask for at all: half of what a span can
// address.
const maxMemoryMiB = 2 << 10

// maxVersion bounds a version, which is part of a file name.
const maxVersion = 160

// The forms of what a manifest names. That of a version is semver.org's, with
// bounds.
var (
	nameForm    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	sourceForm  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	versionForm = regexp.MustCompile(`^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})` +
		`(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?` +
		`(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
)

// settingNames are the workspace settings that a manifest may put rules on,
// as they are called in the API.
var settingNames = []string{"apiKey", "apiVersion", "baseUrl", "deploymentId", "orgId", "projectId"}

// secretNames are those of them that are secret.
var secretNames = []string{"apiKey"}

// Parse reads and checks b; an error names everything that is wrong. What b has
// beyond the contract is skipped: see [FindUnknown].
func Parse(b []byte) (*abi.Manifest, error) {
	if len(b) > abi.MaxManifest {
		return nil, fmt.Errorf("the manifest has %d bytes and may have %d", len(b), abi.MaxManifest)
	}
	m := &abi.Manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("the manifest is not the JSON of one: %w", err)
	}
	if problems := append(scanMembers(b).wrong, checkManifest(m)...); len(problems) > 0 {
		return nil, fmt.Errorf("the manifest is wrong: %s", strings.Join(problems, "; "))
	}
	upgradeManifest(m)
	return m, nil
}

func checkManifest(m *abi.Manifest) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	if m.ABI < abi.MinVersion || m.ABI > abi.Version {
		wrong("abi is %d, and this host speaks %s: build the plugin with an SDK of that version, or use another host", m.ABI, ABIRange())
	}
	if _, ok := selfTestCalls[m.Kind]; !ok {
		wrong("kind is %s and must be one of: %s", quoteName(m.Kind), strings.Join(slices.Sorted(maps.Keys(selfTestCalls)), ", "))
	}
	if !ValidName(m.Name) {
		wrong("name is %s and must be 1 to 64 of a-z, 0-9 and -, a letter first", quoteName(m.Name))
	}
	if !ValidVersion(m.Version) {
		wrong("version is %s and must be a semantic version such as 1.2.0", quoteName(m.Version))
	}
	if m.Kind == abi.KindCollector {
		problems = append(problems, checkCollector(m)...)
	} else if len(m.Events) > 0 || m.Message != "" || len(m.Metrics) > 0 {
		wrong("events, message and metrics belong to collectors")
	}
	problems = append(problems, checkGuard(m)...)
	if m.Kind == abi.KindProvider && !ValidSource(m.Source) {
		wrong("source is %s and must be 1 to 64 letters, digits, _ and -, a letter first", quoteName(m.Source))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		if !slices.Contains(settingNames, name) {
			wrong("settings has %s and may have: %s", quoteName(name), strings.Join(settingNames, ", "))
		}
	}
	problems = append(problems, checkFeatures(m)...)
	if m.ABI >= 2 {
		if m.Grants.Secrets != nil {
			wrong("grants.secrets belongs to ABI 1: say by auth how the host signs in")
		}
		problems = append(problems, slices.Concat(checkAuth(m), checkDoes(m), checkContent(m), checkOptions(m), checkTimeouts(m))...)
		if m.Kind != abi.KindProvider && (m.Auth != nil || m.Does != nil || m.Embed.MaxTexts != 0 || m.Timeouts != abi.Timeouts{}) {
			wrong("auth, does and timeouts belong to providers")
		}
		if m.Kind == abi.KindCollector && m.Options != nil {
			wrong("options belong to providers and guards")
		}
	}
	for _, name := range m.Grants.Secrets {
		if !slices.Contains(secretNames, name) {
			wrong("grants.secrets has %s and may have: %s", quoteName(name), strings.Join(secretNames, ", "))
		}
	}
	for _, origin := range m.Grants.HTTP {
		if err := checkGrant(m, origin); err != nil {
			wrong("grants.http has %s: %v", quoteName(origin), err)
		}
	}
	if m.Limits.MemoryMiB < 0 || m.Limits.MemoryMiB > maxMemoryMiB {
		wrong("limits.memoryMiB is %d and must be 1 to %d, or left out", m.Limits.MemoryMiB, maxMemoryMiB)
	}
	if m.Limits.FuelPerCall < 0 {
		wrong("limits.fuelPerCall is %d and must be above 0, or left out", m.Limits.FuelPerCall)
	}
	return append(problems, checkSelfTests(m)...)
}

// ops are what a provider can do.
var ops = []string{abi.OpChat, abi.OpEmbed, abi.OpModels}

// parts are the types of content parts, beside text, that a provider may be given.
var parts = []string{"image_url", "input_audio", "file"}

// checkContent finds what is wrong with what m says of content and formats.
func checkContent(m *abi.Manifest) (problems []string) {
	for i, typ := range m.Accepts {
		switch {
		case !slices.Contains(parts, typ):
			problems = append(problems, fmt.Sprintf("accepts has %s, and may have: %s", quoteName(typ), strings.Join(parts, ", ")))
		case slices.Contains(m.Accepts[:i], typ):
			problems = append(problems, fmt.Sprintf("accepts has %s twice", quoteName(typ)))
		}
	}
	if m.FormatWithTools != "" && m.FormatWithTools != "no" {
		problems = append(problems, fmt.Sprintf("formatWithTools is %s and must be \"no\", or left out", quoteName(m.FormatWithTools)))
	}
	if m.FormatModels != nil && m.FormatWithTools == "" {
		problems = append(problems, "formatWithToolsModels are exceptions from formatWithTools, which is left out")
	}
	if m.Kind != abi.KindProvider && (m.Accepts != nil || m.FormatWithTools != "") {
		problems = append(problems, "accepts and formatWithTools belong to providers")
	}
	return problems
}

// checkDoes finds what is wrong with what m says that its plugin does.
func checkDoes(m *abi.Manifest) (problems []string) {
	for i, op := range m.Does {
		switch {
		case !slices.Contains(ops, op):
			problems = append(problems, fmt.Sprintf("does has %s, and may have: %s", quoteName(op), strings.Join(ops, ", ")))
		case slices.Contains(m.Does[:i], op):
			problems = append(problems, fmt.Sprintf("does has %s twice", quoteName(op)))
		}
	}
	if m.Does != nil && !slices.Contains(m.Does, abi.OpChat) {
		problems = append(problems, "does lacks chat, which every provider does")
	}
	e := &m.Embed
	if !Does(m, abi.OpEmbed) && (e.MaxTexts != 0 || e.MaxBytes != 0 || e.Models != nil) {
		problems = append(problems, "embed is for plugins whose does has embed")
	}
	if e.MaxTexts < 0 || e.MaxTexts > abi.MaxEmbedTexts {
		problems = append(problems, fmt.Sprintf("embed.maxTexts is %d and must be 1 to %d, or left out", e.MaxTexts, abi.MaxEmbedTexts))
	}
	if e.MaxBytes < 0 || e.MaxBytes > abi.MaxEmbedBytes {
		problems = append(problems, fmt.Sprintf("embed.maxBytes is %d and must be 1 to %d, or left out", e.MaxBytes, abi.MaxEmbedBytes))
	}
	return problems
}

// checkGrant is checkOrigin for a grant of m, which since ABI 2 may name options.
func checkGrant(m *abi.Manifest, origin string) error {
	if m.ABI < 2 || origin == abi.GrantBaseURL || !strings.Contains(origin, "${") {
		return checkOrigin(origin)
	}
	if err := checkGrantNames(m, origin); err != nil {
		return err
	}
	filled, err := fillTemplate(origin, func(Name) (string, bool) { return "x", true })
	if err != nil {
		return err
	}
	u, err := url.Parse(filled)
	if err != nil || u.Scheme != "https" || strings.Count(u.Hostname(), ".") < 2 {
		return errors.New("an origin that names options must be https, and have two labels of its host after them")
	}
	if tail := origin[strings.LastIndexByte(origin, '}')+1:]; strings.Count(tail, ".") < 2 {
		return errors.New("an origin that names options must have two labels of its host after them")
	}
	return checkOrigin(filled)
}

// checkOrigin refuses what is neither scheme://host[:port] in its plain form
// nor [abi.GrantBaseURL].
func checkOrigin(s string) error {
	if s == abi.GrantBaseURL {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return errors.New("it is not a URL")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("it must begin with https:// or http://")
	case u.Hostname() == "" || strings.ContainsAny(u.Hostname(), "*%${} "):
		return errors.New("it must name one host, without wildcard")
	case s != u.Scheme+"://"+strings.ToLower(u.Host):
		return errors.New("it must be scheme://host or scheme://host:port in lower case and no more")
	}
	return nil
}

// ValidName reports whether a plugin may be called s: what passes is safe as
// part of a file name.
func ValidName(s string) bool { return nameForm.MatchString(s) }

// ValidSource reports whether a source may be called s.
func ValidSource(s string) bool { return sourceForm.MatchString(s) }

// ValidVersion reports whether s is a semantic version without "v"; it is safe
// as part of a file name too.
func ValidVersion(s string) bool { return len(s) <= maxVersion && versionForm.MatchString(s) }

// quoteName shows a name that anybody may have written.
func quoteName(s string) string {
	if len(s) > 64 {
		s = s[:64] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// ABIRange says which versions of the contract this one speaks.
func ABIRange() string {
	if abi.MinVersion == abi.Version {
		return fmt.Sprintf("ABI %d", abi.Version)
	}
	return fmt.Sprintf("ABI %d to %d", abi.MinVersion, abi.Version)
}
