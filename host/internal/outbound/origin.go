package outbound

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// An origin is scheme://host:port, in lower case, the port always given.
type origin string

// parseOrigin reads an absolute http or https URL. Its errors go on from "a
// URL that" and do not repeat it, since it may hold a secret.
func parseOrigin(raw string) (*url.URL, origin, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, "", errors.New("is malformed")
	}
	scheme, port := u.Scheme, u.Port()
	switch {
	case scheme != "http" && scheme != "https":
		return nil, "", errors.New("is not an absolute http or https one")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, "", errors.New("names no host")
	case u.User != nil:
		return nil, "", errors.New("holds a user name or password")
	case strings.Contains(u.Host, "%"):
		return nil, "", errors.New("names a host with a zone or an escape")
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return u, origin(scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)), nil
}
