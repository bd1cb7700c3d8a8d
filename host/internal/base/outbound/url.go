package outbound

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// URLRules are what an address of a server may have beside a scheme, a host, a port and
// a path. The zero value allows http and https, and nothing more.
type URLRules struct {
	Schemes  []string // instead of http and https
	Query    bool
	Fragment bool
	User     bool // a name, and a password
	NoPath   bool
	Max      int // bytes; default 4096
}

// ParseURL reads the address of a server that is asked by the host. It is the only
// check of all addresses: those of settings, options and plugins. Its errors go on
// from what the address is of ("`url` " + err) and do not repeat it: it may hold a
// secret.
func ParseURL(text string, rules URLRules) (*url.URL, error) {
	schemes := rules.Schemes
	if schemes == nil {
		schemes = []string{"http", "https"}
	}
	if most := cmp.Or(rules.Max, 4096); len(text) > most {
		return nil, fmt.Errorf("has more than %d bytes", most)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f && r <= 0xa0 || r == '\\' }) {
		return nil, errors.New("holds a space, a backslash or a control character")
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("is malformed")
	}
	port, portErr := strconv.Atoi(u.Port())
	switch {
	case !slices.Contains(schemes, u.Scheme):
		return nil, fmt.Errorf("does not begin with %s://", strings.Join(schemes, ":// or "))
	case u.Opaque != "" || strings.Trim(u.Hostname(), ".") == "":
		return nil, errors.New("names no host")
	case u.User != nil && !rules.User:
		return nil, errors.New("holds user info, a user name or password")
	case strings.Contains(u.Host, "%"):
		return nil, errors.New("names a host with a zone or an escape")
	case (u.RawQuery != "" || u.ForceQuery) && !rules.Query:
		return nil, errors.New("holds a query")
	case strings.Contains(text, "#") && !rules.Fragment:
		return nil, errors.New("holds a fragment")
	case strings.HasSuffix(u.Host, ":") || u.Port() != "" && (portErr != nil || port < 1 || port > 65535):
		return nil, errors.New("has a port that is not 1 to 65535")
	case rules.NoPath && strings.Trim(u.Path, "/") != "":
		return nil, errors.New("holds a path")
	}
	return u, nil
}

// SameHost reports whether two addresses are of one origin: scheme, host and port. A
// secret that was stored for one may be sent to the other.
func SameHost(a, b string) bool {
	_, x, errX := parseOrigin(a)
	_, y, errY := parseOrigin(b)
	return errX == nil && errY == nil && x == y
}

// IsLoopback reports whether a host's name or address leads to this machine wherever it
// is looked up.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
