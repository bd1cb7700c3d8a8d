package manifest

import "github.com/parley-search/parley/abi"

// upgrade puts a manifest of ABI 1 into the form that the host works with, so
// that nothing else need know of that version: what it granted of secrets
// becomes an [abi.Auth] of a scheme that is its alone, and members that came
// later are nothing to it. Other manifests stay as they are.
func upgrade(m *abi.Manifest) {
	if m.ABI != 1 {
		return
	}
	m.Auth, m.Options, m.Timeouts = nil, nil, abi.Timeouts{}
	if m.Kind == abi.KindProvider {
		m.Auth = []abi.Auth{{Name: abi.AuthPlaceholder, Scheme: abi.AuthPlaceholder}}
	}
}

// UsesPlaceholders reports whether m's plugin writes ${apiKey} into header values
// for the host to replace, as those of ABI 1 do.
func UsesPlaceholders(m *abi.Manifest) bool {
	return len(m.Auth) == 1 && m.Auth[0].Scheme == abi.AuthPlaceholder
}
