package chat

import (
	"errors"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// A Failure says whose failure ended an answer, for logs and metrics: it is the
// cause of the [apierr.Error] that the client gets. It holds nothing that anybody
// said, but what a plugin reports for the log and the provider's code.
type Failure struct {
	Workspace                     string // uid
	Source, Plugin, PluginVersion string
	// Kind is one of few: the kind of a provider's error (see abi.ProviderError),
	// or with "plugin_" or "network_" before it that of a plugin's or a request's,
	// "answer_timeout" or "other".
	Kind         string
	Err          error  // the cause, without the workspace's key; may be nil
	ProviderCode string // the provider's own, without the workspace's key; empty: none

	// said is what our side says of a request that failed; the cause may quote
	// the provider.
	said string
}

func (f *Failure) Error() string {
	if f.Err == nil {
		return f.Kind
	}
	return f.Kind + ": " + f.Err.Error()
}

// pluginRefused is the kind of what a plugin says to the client.
const pluginRefused = "plugin_refused"

// Logged is the cause as far as it is for the log: what a plugin says to the
// client may quote what that asked, and the cause of a broken connection what
// the provider sent.
func (f *Failure) Logged() error {
	switch {
	case f.Kind == pluginRefused:
		return nil
	case f.said != "":
		return errors.New(f.said)
	}
	return f.Err
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// failure is one of l's plugin; cause may be nil.
func (l link) failure(kind string, cause error) *Failure {
	f := &Failure{Workspace: l.workspace.UID, Source: l.workspace.Source, Plugin: l.manifest.Name, PluginVersion: l.manifest.Version, Kind: kind}
	if cause != nil {
		f.Err = l.hideInError(cause)
	}
	if up, ok := errors.AsType[*outbound.Error](cause); ok {
		f.said = l.hideSecrets(up.Message)
		if up.Why != "" {
			f.said += ": " + up.Why
		}
	}
	return f
}

// attributed returns err as the client gets it, with a [Failure] as its
// cause.
func (l link) attributed(err error) *apierr.Error {
	e := apierr.From(err)
	if _, ok := errors.AsType[*Failure](e); ok {
		return e
	}
	if _, ok := errors.AsType[*limit.Refused](e); ok {
		return e // no provider failed
	}
	own := *e
	own.Err = l.failure("other", e.Err)
	return &own
}
