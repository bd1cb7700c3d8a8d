package httpapi

import (
	"net"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// A Site says by which names a host is asked, and which pages may ask it.
type Site struct {
	Hosts []string // names that Host may have beside those of this machine, as [HostName] gives them
	// Proxies are the networks of reverse proxies, whose X-Forwarded-For is taken.
	Proxies []netip.Prefix
	Origins []string // of pages that may ask, such as https://app.example; none: those of this machine, and with a master key all
}

// checkSite returns the origin whose pages may read the answer, "" for none, and
// an error where the request comes from a page that may not ask. Browsers tell:
// the page's own site by Origin and Sec-Fetch-Site, the name that they looked up
// by Host, which a page may have pointed at this machine. It runs before anything
// of the request is read or done.
func (s *Server) checkSite(c *fiber.Ctx) (origin string, err error) {
	open := !s.Auth.Protected()
	probe := isProbe(c.Path()) && c.Method() != fiber.MethodOptions
	host := string(c.Request().Header.Host())
	if !probe && (open || s.asksHere(c)) && !s.servesName(HostName(host)) {
		return "", apierr.Newf(apierr.ForbiddenHost, "The host does not serve the name %.100q of the header `Host`: a web page could have pointed it here. Add it to --allowed-hosts.", host)
	}
	if c.Path() != mcpPath && !open && len(s.Site.Origins) == 0 {
		return "*", nil // the key is the guard
	}
	c.Vary(fiber.HeaderOrigin)
	if probe {
		host = "" // it was not checked
	}
	if c.Path() == mcpPath && !open && !s.servesName(HostName(host)) {
		host = "" // nor was it here, and a page may have pointed its own name at this host
	}
	switch from := c.Get(fiber.HeaderOrigin); {
	case from != "" && s.trustsOrigin(from, host):
		return strings.Clone(from), nil
	case probe:
		return "", nil
	case from != "":
		return "", apierr.Newf(apierr.ForbiddenOrigin, "Pages of the origin %.100q may not ask this host: add it to --allowed-origins.", from)
	case c.Get("Sec-Fetch-Site") == "cross-site" && !visits(c):
		return "", apierr.Newf(apierr.ForbiddenOrigin, "Pages of other sites may not ask this host, and this request comes from one (`Sec-Fetch-Site`): add the page's origin to --allowed-origins, and send the request by fetch.")
	}
	return "", nil
}

// isProbe reports whether path is one that anybody may ask, since it tells and
// does nothing.
func isProbe(path string) bool { return path == "/health" || path == "/ready" }

// asksHere reports whether c comes from this machine and brings no key. Behind a
// proxy on this machine requests have keys, but for a browser's preflights.
func (s *Server) asksHere(c *fiber.Ctx) bool {
	return c.Method() != fiber.MethodOptions && c.Context().RemoteIP().IsLoopback() && bearer(c) == ""
}

// servesName reports whether Host may be name. Beyond this machine, addresses and
// names of local networks are fine: to point a name here takes one with a dot, in
// a domain that can be bought.
func (s *Server) servesName(name string) bool {
	if outbound.IsLoopback(name) {
		return true
	}
	for _, known := range s.Site.Hosts {
		if name == known {
			return true
		}
	}
	if !s.wide.Load() || name == "" {
		return false
	}
	_, err := netip.ParseAddr(name)
	return err == nil || !strings.Contains(name, ".") || strings.HasSuffix(name, ".local") || strings.HasSuffix(name, ".internal")
}

// trustsOrigin reports whether pages of origin may ask the host: those listed, or
// where none is, those of this machine; and its own, for host is checked.
func (s *Server) trustsOrigin(origin, host string) bool {
	scheme, from, ok := strings.Cut(strings.ToLower(origin), "://")
	if !ok || scheme != "http" && scheme != "https" {
		return false
	}
	if host != "" && from == strings.ToLower(host) {
		return true
	}
	for _, known := range s.Site.Origins {
		if strings.EqualFold(origin, known) {
			return true
		}
	}
	return len(s.Site.Origins) == 0 && outbound.IsLoopback(HostName(from))
}

// visits reports whether c is a person's way to a page of this host, in a window
// of its own.
func visits(c *fiber.Ctx) bool {
	page := c.Path() == "/" || c.Path() == "/console" || strings.HasPrefix(c.Path(), "/console/") || c.Path() == "/docs" || strings.HasPrefix(c.Path(), "/docs/")
	top := c.Get("Sec-Fetch-Dest", "document") == "document"
	return page && top && c.Method() == fiber.MethodGet && c.Get("Sec-Fetch-Mode") == "navigate"
}

// HostName is what a header Host names, in lower case and without port, brackets
// and a dot at the end.
func HostName(host string) string {
	name := strings.ToLower(host)
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.TrimSuffix(name, ".")
}
