package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// The places of a token server's answer: the token; for how many seconds it is good; or
// when it ends, in seconds since 1970 or as RFC 3339 has it.
const (
	TokenPlace   = "{{token}}"
	SecondsPlace = "{{seconds}}"
	ExpiresPlace = "{{expires}}"
)

// A Token reads the answers of token servers. It never changes.
type Token struct {
	token            *Pattern
	seconds, expires *Pattern // nil: the template has no such place
}

// ParseToken reads a template with [TokenPlace] in no array that repeats, and perhaps
// one of the others. An error goes on from the name of the template.
func ParseToken(template []byte) (*Token, error) {
	t := &Token{}
	for _, p := range []struct {
		place string
		to    **Pattern
	}{{TokenPlace, &t.token}, {SecondsPlace, &t.seconds}, {ExpiresPlace, &t.expires}} {
		if p.place != TokenPlace && !bytes.Contains(template, []byte(p.place)) {
			continue
		}
		found, err := Parse(template, p.place)
		if err != nil {
			return nil, err
		}
		if found.Many() {
			return nil, fmt.Errorf("has %q in an array that repeats", p.place)
		}
		*p.to = found
	}
	if t.seconds != nil && t.expires != nil {
		return nil, fmt.Errorf("has both %q and %q", SecondsPlace, ExpiresPlace)
	}
	return t, nil
}

// Read returns the token in an answer that came now, and until when it is good, which may
// be past; zero: the answer does not say. An error goes on from "the answer" and repeats
// nothing of it.
func (t *Token) Read(body []byte, now time.Time) (token string, until time.Time, err error) {
	if token, err = textAt(t.token, body); err != nil {
		return "", until, err
	}
	for _, p := range []*Pattern{t.seconds, t.expires} {
		if p == nil {
			continue
		}
		text, err := textAt(p, body)
		if err != nil {
			continue // a token that does not say how long it is good is good
		}
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return token, at, nil
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || n > 1e10 {
			continue
		}
		if p == t.expires {
			return token, time.Unix(int64(max(n, 0)), 0), nil
		}
		return token, now.Add(time.Duration(min(max(n, 0), 1e8)) * time.Second), nil
	}
	return token, until, nil
}

// textAt returns the string or number in the place of a pattern.
func textAt(p *Pattern, body []byte) (string, error) {
	found, err := p.Find(body)
	if err != nil {
		return "", err
	}
	var text string
	if json.Unmarshal(found[0], &text) == nil && text != "" {
		return text, nil
	}
	var n json.Number
	if json.Unmarshal(found[0], &n) == nil && n != "" {
		return n.String(), nil
	}
	return "", errors.New("has no text where the template has a place")
}
