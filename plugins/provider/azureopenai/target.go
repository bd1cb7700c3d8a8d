package main

import (
	"cmp"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
)

// A form is one of the three that Azure's addresses have.
type form uint8

const (
	formDeployment form = iota // /openai/deployments/NAME, and a dated version
	formV1                     // /openai/v1, the deployment as model, no version
	formModels                 // Foundry's /models, the deployment as model, a dated version
)

// A target is where requests with some settings go.
type target struct {
	settings   provider.Settings
	form       form
	base       string // all before /chat/completions
	version    string
	deployment string

	// What follows from these.
	url     string
	headers []provider.Header
	family  openai.Family // by the deployment's name, which may tell nothing
}

// The ends of a base URL that say which form it has. People paste anything
// from the host alone to the whole address.
const (
	endOpenAI      = "/openai"
	endDeployments = "/openai/deployments"
	endV1          = "/openai/v1"
	endModels      = "/models"
)

// targetOf returns the whole target.
func targetOf(s provider.Settings) (target, error) {
	t, err := parseTarget(&s)
	if err == nil {
		t.settings = s
		t.url, t.headers, t.family = t.address(), t.head(), familyOf(t.deployment)
	}
	return t, err
}

// parseTarget reads the settings. A deployment that baseUrl names goes before
// deploymentId: it is what somebody copied from the portal.
func parseTarget(s *provider.Settings) (target, error) {
	base := trimSlashes(strings.TrimSuffix(trimSlashes(s.BaseURL), openai.Path))
	root, named, deep := strings.Cut(base, endDeployments)
	named = strings.Trim(named, "/")
	for _, end := range [...]string{endV1, endOpenAI, endModels} {
		root = trimSlashes(strings.TrimSuffix(root, end))
	}
	t := target{version: strings.TrimSpace(s.APIVersion), deployment: cmp.Or(named, s.DeploymentID)}
	switch {
	case base == "":
		return t, newUnsetError("baseUrl", "the endpoint of the Azure resource, for instance https://my-resource.openai.azure.com")
	case t.deployment == "":
		return t, newUnsetError("deploymentId", "the name of the deployment")
	case strings.HasSuffix(base, endV1), t.is("v1"), t.is("preview"):
		t.form, t.base = formV1, root+endV1
		return t, nil
	case t.version == "":
		return t, newUnsetError("apiVersion", "`v1`, or a date such as 2024-10-21")
	case !deep && (strings.HasSuffix(base, endModels) || onFoundry(base)):
		t.form, t.base = formModels, root+endModels
	default:
		t.base = root + endDeployments + "/" + cmp.Or(named, escapeSegment(s.DeploymentID))
	}
	return t, nil
}

func newUnsetError(setting, remedy string) error {
	return provider.Refuse("`" + setting + "` is not set: PATCH the workspace's settings with " + remedy)
}

// address returns the whole address.
func (t *target) address() string {
	url := t.base + openai.Path
	switch {
	case t.form != formV1:
		return url + "?api-version=" + escapeSegment(t.version)
	case t.is("preview"):
		return url + "?api-version=preview"
	}
	return url
}

// head returns the headers.
func (t *target) head() []provider.Header {
	all := []provider.Header{{Name: "Accept", Value: "text/event-stream"}, {Name: "Content-Type", Value: "application/json"}}
	if t.form == formModels {
		// Without it Foundry refuses every member that not all models know.
		all = append(all, provider.Header{Name: "extra-parameters", Value: "pass-through"})
	}
	return all
}

// familyOf tells the model by the deployment's name, "prod-gpt-5.6-eu" too.
func familyOf(deployment string) (f openai.Family) {
	for rest, more := strings.ToLower(deployment), true; more && !f.Known(); {
		f = openai.FamilyOf(rest)
		i := strings.IndexAny(rest, "-_.")
		rest, more = rest[i+1:], i >= 0
	}
	return f
}

// is reports whether the version is one of the words that select the API
// without dates.
func (t *target) is(word string) bool { return strings.EqualFold(t.version, word) }

// olderThan reports whether the target's API has a date, and an earlier one.
func (t *target) olderThan(date string) bool {
	v := t.version
	return t.form != formV1 && len(v) >= len(date) && v[0] == '2' && v[4] == '-' && v[:len(date)] < date
}

// onFoundry reports whether base is the bare host of a Foundry resource, where
// the models live under /models.
func onFoundry(base string) bool {
	return !openai.HasPath(base) && strings.HasSuffix(base, ".services.ai.azure.com")
}

func trimSlashes(s string) string { return strings.TrimRight(strings.TrimSpace(s), "/") }

// escapeSegment returns s as a part of an address.
func escapeSegment(s string) string {
	const digits = "0123456789ABCDEF"
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b = append(b, c)
		default:
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}
