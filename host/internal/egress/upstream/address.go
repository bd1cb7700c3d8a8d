package upstream

import (
	"errors"
	"net/netip"
)

// errAddress refuses an address. It does not say which: what a name resolves
// to inside a network is nobody's business outside it.
type errAddress struct{ never bool }

func (e errAddress) Error() string {
	if e.never {
		return "the address is link-local, multicast or one of cloud metadata"
	}
	return "the address is private: --allow-private-networks allows such"
}

var errNotAnAddress = errors.New("not an IP address")

// checkAddress refuses an address that no request may go to, and one that is
// neither of the public internet nor in private. An address that carries another
// one inside is judged by both.
func checkAddress(a netip.Addr, private Private) error {
	a = a.WithZone("").Unmap()
	if among(a, neverAddresses) {
		return errAddress{never: true}
	}
	if among(a, privateAddresses) && !private.has(a) {
		return errAddress{}
	}
	for _, e := range embedded {
		if !e.prefix.Contains(a) {
			continue
		}
		if err := checkAddress(e.inner(a.As16()), private); err != nil {
			return err
		}
	}
	return nil
}

func among(a netip.Addr, prefixes []netip.Prefix) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Addresses that no request may go to: there is no provider at them, but there
// may be the keys of the machine.
var neverAddresses = prefixes(
	"169.254.0.0/16", "fe80::/10", // link-local, with the metadata of most clouds
	"100.100.100.200/32",                // metadata of Alibaba Cloud
	"168.63.129.16/32",                  // the wire server of Azure
	"192.0.0.192/32",                    // metadata of Oracle Cloud, older form
	"fd00:ec2::/32",                     // metadata and time of Amazon
	"fd20:ce::254/128",                  // metadata of Google Cloud
	"224.0.0.0/4", "255.255.255.255/32", // multicast, broadcast
	"ff00::/8",
)

// Addresses that are not of the public internet.
var privateAddresses = prefixes(
	"0.0.0.0/8", "::/128", // this machine
	"127.0.0.0/8", "::1/128", // loopback
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", // private
	"100.64.0.0/10",                           // carrier-grade NAT
	"fc00::/7", "fec0::/10", "64:ff9b:1::/48", // unique local, site local
	"192.0.0.0/24",                                                                    // protocol assignments
	"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20", // documentation
	"198.18.0.0/15",  // benchmarks
	"192.88.99.0/24", // relays of 6to4
	"240.0.0.0/4",    // reserved
	"100::/64",       // discard
	"5f00::/16",      // segment routing
)

// Addresses that carry an IPv4 address inside, by which a gateway sends them
// on.
var embedded = []struct {
	prefix netip.Prefix
	inner  func([16]byte) netip.Addr
}{
	{netip.MustParsePrefix("64:ff9b::/96"), last4},   // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), last4}, // NAT64, local, with the address after 96, 48, 56 or 64 bits; byte 8 stays zero
	{netip.MustParsePrefix("64:ff9b:1::/48"), func(b [16]byte) netip.Addr { return v4(b[6], b[7], b[9], b[10]) }},
	{netip.MustParsePrefix("64:ff9b:1::/48"), func(b [16]byte) netip.Addr { return v4(b[7], b[9], b[10], b[11]) }},
	{netip.MustParsePrefix("64:ff9b:1::/48"), func(b [16]byte) netip.Addr { return v4(b[9], b[10], b[11], b[12]) }},
	{netip.MustParsePrefix("::/96"), last4},                                                                         // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), last4},                                                               // translated (SIIT)
	{netip.MustParsePrefix("2002::/16"), func(b [16]byte) netip.Addr { return v4(b[2], b[3], b[4], b[5]) }},         // 6to4
	{netip.MustParsePrefix("2001::/32"), func(b [16]byte) netip.Addr { return v4(b[4], b[5], b[6], b[7]) }},         // Teredo: its server
	{netip.MustParsePrefix("2001::/32"), func(b [16]byte) netip.Addr { return v4(^b[12], ^b[13], ^b[14], ^b[15]) }}, // and its client
}

func last4(b [16]byte) netip.Addr { return v4(b[12], b[13], b[14], b[15]) }

func v4(a, b, c, d byte) netip.Addr { return netip.AddrFrom4([4]byte{a, b, c, d}) }
