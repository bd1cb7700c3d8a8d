package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

func readURL(v value, dst *string) error {
	var s string
	if err := v.text(&s, maxURL); err != nil {
		return err
	}
	if _, err := outbound.ParseURL(s, outbound.URLRules{Query: true}); err != nil {
		return fmt.Errorf("`%s` %w: it must be a URL such as \"https://api.example.com/v1/embeddings\", without user, password or fragment", v.path, err)
	}
	*dst = s
	return nil
}

// readPlace reads a body that has one of places in it.
func readPlace(places ...string) func(value, *json.RawMessage) error {
	return func(v value, dst *json.RawMessage) error {
		found := 0
		eachString(v.raw, func(s string) {
			if slices.Contains(places, s) {
				found++
			}
		})
		if found != 1 {
			return fmt.Errorf("`%s` must have \"%s\" once as a value in it, but has it %d times", v.path, strings.Join(places, `" or "`), found)
		}
		*dst = bytes.Clone(v.raw)
		return nil
	}
}

// eachString calls f for each string value in v.
func eachString(v []byte, f func(string)) {
	switch v[0] {
	case '"':
		f(rawjson.Unquote(v))
	case '{':
		rawjson.EachMember(v, func(_, m []byte) bool { eachString(m, f); return true })
	case '[':
		rawjson.EachElement(v, func(e []byte) bool { eachString(e, f); return true })
	}
}

// headerName takes the names of headers that do not belong to the connection.
func headerName(name string) bool {
	for _, c := range []byte(name) {
		if !NameByte(c) && !strings.ContainsRune("!#$%&'*+.^`|~", rune(c)) {
			return false
		}
	}
	own := []string{"host", "content-length", "content-type", "transfer-encoding", "connection", "te", "trailer", "upgrade", "keep-alive", "proxy-authorization", "proxy-connection"}
	return name != "" && len(name) <= 100 && !slices.Contains(own, strings.ToLower(name))
}

func readDistribution(v value, dst **Distribution) error {
	mean, sigma := -1.0, -1.0
	never := func() {}
	err := v.fields(map[string]fieldReader{
		"mean":  {func(v value) error { return v.number(&mean, 0, 1) }, never},
		"sigma": {func(v value) error { return v.number(&sigma, 0, 1) }, never},
	})
	if err == nil && (mean < 0 || sigma <= 0) {
		err = fmt.Errorf("`%s` must have `mean`, from 0 to 1, and `sigma`, above 0 and at most 1", v.path)
	}
	if err == nil {
		*dst = &Distribution{mean, sigma}
	}
	return err
}
