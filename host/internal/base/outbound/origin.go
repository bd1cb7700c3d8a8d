package outbound

import (
	"net"
	"net/url"
	"strings"
)

// An origin is scheme://host:port, in lower case, the port always given.
type origin string

// parseOrigin reads an absolute http or https URL. Its errors go on from "a
// URL that" and do not repeat it, since it may hold a secret.
func parseOrigin(raw string) (*url.URL, origin, error) {
	u, err := ParseURL(raw, URLRules{Query: true, Fragment: true, Max: maxURL})
	if err != nil {
		return nil, "", err
	}
	scheme, port := u.Scheme, u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return u, origin(scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)), nil
}
