package chat

import (
	"cmp"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// A link is a workspace and its plugin: what requests to a provider are made of.
type link struct {
	workspace *workspace.Workspace
	source    provider.Source
	manifest  *abi.Manifest
}

// outgoingRequest is what is sent of out: signed in, within the limits and to the
// origins of the manifest.
func (l link) outgoingRequest(out *abi.EncodeResponse) (*outbound.Request, error) {
	values := l.workspace.Values(l.manifest)
	credential, err := l.workspace.Credential(l.manifest, out, values)
	if err != nil {
		return nil, err
	}
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	secrets := map[string]string{}
	for name, s := range l.workspace.Secrets() {
		secrets[name] = s.Reveal()
	}
	return &outbound.Request{
		Encoded:    out,
		Grants:     abi.Grants{HTTP: manifest.Origins(l.manifest, values), Secrets: l.manifest.Grants.Secrets},
		BaseURL:    l.workspace.BaseURL,
		Secrets:    secrets,
		Credential: credential,
		FirstByte:  seconds(cmp.Or(l.workspace.FirstByteSeconds, l.manifest.Timeouts.FirstByteSeconds)),
		Silence:    seconds(l.manifest.Timeouts.SilenceSeconds),

		Workspace: l.workspace.UID, Source: l.manifest.Source, Plugin: l.manifest.Name + " " + l.manifest.Version,
	}, nil
}
