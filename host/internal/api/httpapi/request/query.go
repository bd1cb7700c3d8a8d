package request

import (
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// Query holds the query parameters of a request, by name.
type Query map[string]string

// ParseQuery returns a copy of the parameters. One that is not known, or that
// comes twice, is [apierr.BadRequest].
func ParseQuery(args *fasthttp.Args, known []string) (Query, error) {
	if args.Len() == 0 {
		return nil, nil
	}
	names := make(map[string]bool, len(known))
	for _, k := range known {
		names[k] = true
	}
	q := make(Query, args.Len())
	for k, v := range args.All() {
		name := string(k)
		if !names[name] {
			return nil, apierr.Unknown("query parameter", name, name, known)
		}
		if _, twice := q[name]; twice {
			return nil, apierr.Newf(apierr.BadRequest, "The query parameter `%s` comes twice: send it once.", name)
		}
		q[name] = string(v)
	}
	return q, nil
}

// Integer returns a parameter that is an integer of 0 or more, or missing
// where it was not sent.
func (q Query) Integer(name string, missing int, code apierr.Code) (int, error) {
	v, ok := q[name]
	if !ok {
		return missing, nil
	}
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return 0, apierr.Newf(code, "The query parameter `%s` must be an integer, 0 or more, but is %.64q.", name, v)
	}
	return int(n), nil
}

// Boolean returns a parameter that is true or false, false where it was not
// sent.
func (q Query) Boolean(name string, code apierr.Code) (bool, error) {
	switch v := q[name]; v {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	default:
		return false, apierr.Newf(code, "The query parameter `%s` must be true or false, but is %.64q.", name, v)
	}
}

// List returns the parts of a parameter that commas divide, or nil where it was
// not sent.
func (q Query) List(name string) []string {
	v, ok := q[name]
	if !ok || v == "*" {
		return nil
	}
	parts := strings.Split(v, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// Page returns offset and limit, by default 0 and 20.
func (q Query) Page(offsetCode, limitCode apierr.Code) (offset, limit int, err error) {
	if offset, err = q.Integer("offset", 0, offsetCode); err != nil {
		return 0, 0, err
	}
	limit, err = q.Integer("limit", 20, limitCode)
	return offset, limit, err
}

// A List is what every list of the API answers.
type List[T any] struct {
	Results []T `json:"results"`
	Offset  int `json:"offset"`
	Limit   int `json:"limit"`
	Total   int `json:"total"`
}

// NewList returns a part of a list that has total entries: what comes after offset,
// at most limit.
func NewList[T any](results []T, offset, limit, total int) List[T] {
	return List[T]{results, offset, limit, total}
}
