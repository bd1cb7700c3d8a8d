package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// A feature is an addition to the contract that this host has.
type feature struct {
	name  string
	kind  string // of the plugins that it is for
	since string // release of Parley
}

// features are those that this host has, the oldest first.
var features = []feature{
	{abi.FeatureAgain, abi.KindProvider, "0.3.0"},
	{abi.FeatureRequestID, abi.KindProvider, "0.3.0"},
	{abi.FeatureToken, abi.KindProvider, "0.3.0"},
	{abi.FeatureHMAC, abi.KindProvider, "0.3.0"},
	{abi.FeatureJWT, abi.KindProvider, "0.3.0"},
	{abi.FeatureHistogram, abi.KindCollector, "0.3.0"},
	{abi.FeatureShare, abi.KindCollector, "0.3.0"},
	{abi.FeatureGuardEvent, abi.KindCollector, "0.3.0"},
}

// Has reports whether m's features name one.
func Has(m *abi.Manifest, feature string) bool { return slices.Contains(m.Features, feature) }

// NeededHost is the oldest release of Parley that has all that m's features name;
// empty where m names none: then each host that speaks its ABI will do.
func NeededHost(m *abi.Manifest) (release string) {
	for _, f := range features {
		if Has(m, f.name) {
			release = f.since
		}
	}
	return release
}

// checkFeatures finds what is wrong with the features of m, and what it uses of one
// that it does not name.
func checkFeatures(m *abi.Manifest) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for i, name := range m.Features {
		at := slices.IndexFunc(features, func(f feature) bool { return f.name == name })
		switch {
		case at < 0:
			var names []string
			for _, f := range features {
				names = append(names, f.name)
			}
			wrong("features has %s, and this host has %s: use a host that has it, or leave it out", quoteName(name), strings.Join(names, ", "))
		case features[at].kind != m.Kind:
			wrong("features has %s, which is for a %s", quoteName(name), features[at].kind)
		case slices.Contains(m.Features[:i], name):
			wrong("features has %s twice", quoteName(name))
		}
	}
	for _, a := range m.Auth {
		if slices.Contains([]string{abi.AuthToken, abi.AuthHMAC, abi.AuthJWT}, a.Scheme) && !Has(m, a.Scheme) {
			wrong("auth has the scheme %s, so features must have %q: an older host then says what it lacks", a.Scheme, a.Scheme)
		}
	}
	for i := range m.Metrics {
		for _, name := range []string{m.Metrics[i].Kind, m.Metrics[i].Aggregation} {
			if (name == abi.FeatureHistogram || name == abi.FeatureShare) && !Has(m, name) {
				wrong("metric %d (%s) is a %s, so features must have %q: an older host then says what it lacks", i, quoteName(m.Metrics[i].Path), name, name)
			}
		}
	}
	if slices.Contains(m.Events, event.KindGuard.String()) && !Has(m, abi.FeatureGuardEvent) {
		wrong("events has guard, so features must have %q: an older host then says what it lacks", abi.FeatureGuardEvent)
	}
	if m.Steps != (abi.Steps{}) && !Has(m, abi.FeatureAgain) {
		wrong("steps is for plugins whose features have %q", abi.FeatureAgain)
	}
	if n := m.Steps.Requests; n < 0 || n > abi.MaxSteps {
		wrong("steps.requests is %d and must be 1 to %d, or left out", n, abi.MaxSteps)
	}
	if n := m.Steps.Seconds; n < 0 || n > abi.MaxTimeoutSeconds {
		wrong("steps.seconds is %d and must be 1 to %d, or left out", n, abi.MaxTimeoutSeconds)
	}
	return problems
}
