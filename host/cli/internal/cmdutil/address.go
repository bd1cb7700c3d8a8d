package cmdutil

import (
	"fmt"
	"net/url"
	"strings"
)

// defaultURL is where a service listens unless it is told otherwise.
const defaultURL = "http://127.0.0.1:7700"

// ServiceURL checks what --url says, and returns it without a slash at the end.
func ServiceURL(given string) (string, error) {
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", UsageError{Err: fmt.Errorf("--url is %q: want the address of a service, such as %s", given, defaultURL)}
	}
	return strings.TrimRight(given, "/"), nil
}
