package upstream

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Private is which addresses that are not of the public internet requests may go
// to: those of this machine and of networks around it. The zero value has none.
type Private struct {
	any      bool
	prefixes []netip.Prefix
}

// AnyPrivate has all of them.
func AnyPrivate() Private { return Private{any: true} }

// ParsePrivate reads "any", or prefixes and addresses separated by commas. The
// error goes on from the option's name.
func ParsePrivate(s string) (Private, error) {
	if s == "any" {
		return AnyPrivate(), nil
	}
	var p Private
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		prefix, err := netip.ParsePrefix(part)
		if a, single := netip.ParseAddr(part); single == nil && a.Zone() == "" {
			prefix, err = a.Prefix(a.BitLen())
		}
		if err != nil {
			return Private{}, fmt.Errorf("names %q", part)
		}
		if prefix.Addr().Is4In6() {
			return Private{}, fmt.Errorf("names %q, which is an IPv4 network: write it as one", part)
		}
		if never(prefix) {
			return Private{}, fmt.Errorf("names %q, where no request goes: link-local and metadata addresses cannot be allowed", part)
		}
		p.prefixes = append(p.prefixes, prefix.Masked())
	}
	return p, nil
}

// never reports whether all of p is out of reach whatever is allowed.
func never(p netip.Prefix) bool {
	return slices.ContainsFunc(neverAddresses, func(n netip.Prefix) bool { return n.Bits() <= p.Bits() && n.Contains(p.Addr()) })
}

func (p Private) has(a netip.Addr) bool { return p.any || among(a, p.prefixes) }

// String is p as [ParsePrivate] reads it; "none" where it has none.
func (p Private) String() string {
	switch {
	case p.any:
		return "any"
	case len(p.prefixes) == 0:
		return "none"
	}
	parts := make([]string, len(p.prefixes))
	for i, prefix := range p.prefixes {
		parts[i] = prefix.String()
	}
	return strings.Join(parts, ",")
}
