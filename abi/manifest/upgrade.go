package manifest

import (
	"slices"

	"github.com/parley-search/parley/abi"
)

// upgradeManifest puts a manifest of ABI 1 into the form that the host works with, so
// that nothing else need know of that version: what it granted of secrets
// becomes an [abi.Auth] of a scheme that is its alone, and members that came
// later are nothing to it. Other manifests stay as they are.
func upgradeManifest(m *abi.Manifest) {
	if m.ABI != 1 {
		return
	}
	m.Auth, m.Does, m.Embed, m.Options, m.Timeouts = nil, nil, abi.Embed{}, nil, abi.Timeouts{}
	if m.Kind == abi.KindProvider {
		m.Auth = []abi.Auth{{Name: abi.AuthPlaceholder, Scheme: abi.AuthPlaceholder}}
	}
}

// Does reports whether m's plugin can be asked for op.
func Does(m *abi.Manifest, op string) bool {
	if len(m.Does) == 0 {
		return op == abi.OpChat
	}
	return slices.Contains(m.Does, op)
}

// UsesPlaceholders reports whether m's plugin writes ${apiKey} into header values
// for the host to replace, as those of ABI 1 do.
func UsesPlaceholders(m *abi.Manifest) bool {
	return len(m.Auth) == 1 && m.Auth[0].Scheme == abi.AuthPlaceholder
}
