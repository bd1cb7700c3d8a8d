package workspace

import (
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// checkBaseURL returns an [apierr.Error] unless s is an absolute http or https
// URL of scheme, host, and perhaps port and path.
func checkBaseURL(s string) error {
	if _, err := outbound.ParseURL(s, outbound.URLRules{}); err != nil {
		return apierr.Newf(chaterr.InvalidChatBaseURL,
			"`baseUrl` %v: give an absolute http or https URL without user info, query or fragment, such as https://llm.example.com/v1.", err)
	}
	return nil
}

// trimBaseURL makes a base URL that a path with a leading slash can be put
// behind.
func trimBaseURL(s string) string { return strings.TrimRight(s, "/") }
