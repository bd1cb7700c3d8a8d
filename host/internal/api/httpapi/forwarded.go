package httpapi

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// clientAddress is the address that c was sent from; the zero value where that is
// not known. Of what trusted proxies say of it, the last word counts that none of
// them said: what stands before it, the client may have made up.
func (s *Server) clientAddress(c *fiber.Ctx) netip.Addr {
	address := addressOf(c.Context().RemoteAddr())
	if len(s.Site.Proxies) == 0 {
		return address
	}
	var hops []string
	for _, line := range c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
		hops = append(hops, strings.Split(string(line), ",")...)
	}
	for _, hop := range slices.Backward(hops) {
		if !s.isProxy(address) {
			break
		}
		from, ok := parseHop(hop)
		if !ok {
			break
		}
		address = from
	}
	return address
}

// isProxy reports whether address is one of a trusted proxy.
func (s *Server) isProxy(address netip.Addr) bool {
	return slices.ContainsFunc(s.Site.Proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// parseHop reads an entry of X-Forwarded-For: an address, with a port or without.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return address.Unmap().WithZone(""), err == nil
}

// addressOf is the address of a connection's other end; the zero value where it is
// not known.
func addressOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
