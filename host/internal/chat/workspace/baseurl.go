package workspace

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/apierr/chaterr"
)

// checkBaseURL returns an [apierr.Error] unless s is an absolute http or https
// URL of scheme, host, and perhaps port and path.
func checkBaseURL(s string) error {
	bad := func(why string) error {
		return apierr.Newf(chaterr.InvalidChatBaseURL,
			"`baseUrl` %s: give an absolute http or https URL without user info, query or fragment, such as https://llm.example.com/v1.", why)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return bad("holds a space, a backslash or a control character")
	}
	u, err := url.Parse(s)
	if err != nil {
		return bad("is not a URL")
	}
	port, portErr := strconv.Atoi(u.Port())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("must begin with http:// or https://")
	case u.Hostname() == "" || u.Opaque != "":
		return bad("names no host")
	case u.User != nil:
		return bad("holds user info")
	case u.RawQuery != "" || u.ForceQuery:
		return bad("holds a query")
	case strings.Contains(s, "#"):
		return bad("holds a fragment")
	case strings.HasSuffix(u.Host, ":") || u.Port() != "" && (portErr != nil || port < 1 || port > 65535):
		return bad("has a port that is not 1 to 65535")
	}
	return nil
}

// trimBaseURL makes a base URL that a path with a leading slash can be put
// behind.
func trimBaseURL(s string) string { return strings.TrimRight(s, "/") }
