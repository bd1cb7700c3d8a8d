package cmdutil

import (
	"fmt"
	"net/url"
	"strings"
)

// defaultURL is where a service listens unless it is told otherwise.
const defaultURL = "http://127.0.0.1:7700"

// ServiceURL checks what --url says, and returns the address below which the
// service's routes are.
func ServiceURL(given string) (string, error) {
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", UsageError{Err: fmt.Errorf("--url is %q: want the address of a service, such as %s", given, defaultURL)}
	}
	given = strings.TrimRight(given, "/")
	for _, part := range []string{"/v1", "/console"} { // what other clients and browsers are given
		given = strings.TrimSuffix(given, part)
	}
	return given, nil
}
