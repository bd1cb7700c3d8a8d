package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// ErrNotFound is in the error about a manifest or repository that is not there.
var ErrNotFound = errors.New("it is not there")

// explain says what is wrong at r, where what was to be done. Of what a registry
// answers it shows status and code: the rest may be anything.
func (s *store) explain(r Reference, what string, err error) error {
	say := func(format string, args ...any) error {
		return fmt.Errorf("%s %s: %s", what, r, fmt.Sprintf(format, args...))
	}
	var login *loginError
	switch {
	case errors.As(err, &login):
		return say("%v", login)
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return say("the registry wants a login: `docker login %s`, or name the folder of docker's config.json by DOCKER_CONFIG", r.Host)
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData), errors.Is(err, io.ErrUnexpectedEOF):
		return say("what came is not what its digest says, so that it was altered or damaged; nothing was kept: %v", err)
	case errors.Is(err, errdef.ErrNotFound) && r.Layout != "":
		return fmt.Errorf("%s %s: %w: see index.json there for the tags that it has", what, r, ErrNotFound)
	case errors.Is(err, errdef.ErrNotFound):
		return fmt.Errorf("%s %s: %w, or not for who is signed in%s", what, r, ErrNotFound, s.signedIn())
	case errors.Is(err, errdef.ErrSizeExceedsLimit):
		return say("the registry's answer is larger than any of its kind may be")
	case errors.Is(err, context.DeadlineExceeded):
		return say("it took over %s", maxTime)
	}
	if said, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		return fmt.Errorf("%s %s: %w", what, r, s.answered(r, said))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		// Its URL may hold a token.
		err = u.Err
	}
	return fmt.Errorf("%s %s: %w", what, r, err)
}

// answered says what an answer of a registry, or of who signs in for it, means.
func (s *store) answered(r Reference, e *errcode.ErrorResponse) error {
	status := fmt.Sprintf("%d %s", e.StatusCode, http.StatusText(e.StatusCode))
	if len(e.Errors) > 0 && e.Errors[0].Code != "" {
		status += ", " + cut(e.Errors[0].Code)
	}
	from := ""
	if e.URL != nil && e.URL.Host != r.Host {
		from = ", asked at " + cut(e.URL.Host)
	}
	switch e.StatusCode {
	case http.StatusNotFound:
		return fmt.Errorf("%w, or not for who is signed in%s (%s)", ErrNotFound, s.signedIn(), status)
	case http.StatusUnauthorized:
		if s.user() == "" {
			return fmt.Errorf("the registry wants a login (%s%s): `docker login %s`, or name the folder of docker's config.json by DOCKER_CONFIG", status, from, r.Host)
		}
		return fmt.Errorf("the registry does not take the login of %q (%s%s): it is wrong, or has expired: log in again by `docker login %s`", cut(s.user()), status, from, r.Host)
	case http.StatusForbidden:
		return fmt.Errorf("who is signed in may not do that%s (%s%s)", s.signedIn(), status, from)
	case http.StatusTooManyRequests:
		return fmt.Errorf("the registry answers %s%s: try again later, or sign in by `docker login %s`", status, from, r.Host)
	}
	return fmt.Errorf("the registry answers %s%s", status, from)
}

func (s *store) signedIn() string {
	if s.user() == "" {
		return ": nobody is, by docker's configuration"
	}
	return fmt.Sprintf(": %q is, by docker's configuration", cut(s.user()))
}
