// Package limit bounds what keys and workspaces may ask of providers, and counts
// what they ask: requests and tokens, never money, whose prices age.
package limit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// Limits bound what a key or a workspace may ask for. A bound of 0 is none, and the
// zero value has none.
type Limits struct {
	RequestsPerMinute int64 // to providers: each round of an answer is one
	TokensPerMinute   int64
	Parallel          int64 // answers at a time
	Tokens            Budget
	// CountSearch, of a key, has each search count as a request.
	CountSearch bool
	// PerClient has each client have all this for itself.
	PerClient bool
}

// A Budget is how many tokens there are for each Period.
type Budget struct {
	Amount int64 // 0: no bound
	Period Period
}

// IsZero reports whether l bounds nothing.
func (l Limits) IsZero() bool { return l == Limits{} }

// MarshalJSON shows l as the API has it: null for what is not bounded.
func (l Limits) MarshalJSON() ([]byte, error) {
	if l.IsZero() {
		return []byte("null"), nil
	}
	shown := struct {
		RequestsPerMinute *int64      `json:"requestsPerMinute"`
		TokensPerMinute   *int64      `json:"tokensPerMinute"`
		Parallel          *int64      `json:"parallel"`
		Tokens            *budgetJSON `json:"tokens"`
		CountSearch       bool        `json:"countSearch,omitempty"`
		PerClient         bool        `json:"perClient,omitempty"`
	}{orNull(l.RequestsPerMinute), orNull(l.TokensPerMinute), orNull(l.Parallel), nil, l.CountSearch, l.PerClient}
	if l.Tokens.Amount > 0 {
		shown.Tokens = &budgetJSON{l.Tokens.Amount, l.Tokens.Period}
	}
	return json.Marshal(shown)
}

type budgetJSON struct {
	Amount int64  `json:"amount"`
	Period Period `json:"period"`
}

func orNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Limits) UnmarshalJSON(b []byte) (err error) {
	*l, err = Merge(Limits{}, b, ofKey, apierr.BadRequest)
	return err
}

// A holder is what limits are of.
type holder int

const (
	ofKey holder = iota
	ofWorkspace
	ofToken
)

// MergeKey is Merge for the limits of a key.
func MergeKey(old Limits, v json.RawMessage) (Limits, error) {
	return Merge(old, v, ofKey, apierr.InvalidAPIKeyLimits)
}

// MergeWorkspace is Merge for the limits of a workspace.
func MergeWorkspace(old Limits, v json.RawMessage) (Limits, error) {
	return Merge(old, v, ofWorkspace, chaterr.InvalidChatLimits)
}

// OfToken reads the limits of a tenant token, which hold beside those of its key.
func OfToken(v json.RawMessage) (Limits, error) {
	return Merge(Limits{}, v, ofToken, apierr.InvalidAPIKey)
}

// maxBound is the most that a bound may be: what every JSON parser reads exactly.
const maxBound = 1 << 53

// Merge returns old with the members of v in place of its own; null takes a bound
// away, and as a whole all of them. The error is an [apierr.Error] of code.
func Merge(old Limits, v json.RawMessage, of holder, code apierr.Code) (Limits, error) {
	fields, err := members(v, "limits", code)
	if err != nil || fields == nil {
		return Limits{}, err
	}
	merged := old
	known := map[string]func(path string, v json.RawMessage) error{
		"requestsPerMinute": bound(&merged.RequestsPerMinute, code),
		"tokensPerMinute":   bound(&merged.TokensPerMinute, code),
		"parallel":          bound(&merged.Parallel, code),
		"tokens":            func(path string, v json.RawMessage) error { return merged.Tokens.merge(path, v, code) },
	}
	if of == ofKey {
		known["countSearch"] = flag(&merged.CountSearch, code)
	}
	if of != ofToken {
		known["perClient"] = flag(&merged.PerClient, code)
	}
	if err := apply("limits.", fields, known); err != nil {
		return Limits{}, err
	}
	return merged, nil
}

func (b *Budget) merge(path string, v json.RawMessage, code apierr.Code) error {
	fields, err := members(v, path, code)
	if err != nil {
		return err
	}
	if fields == nil {
		*b = Budget{}
		return nil
	}
	err = apply(path+".", fields, map[string]func(string, json.RawMessage) error{
		"amount": bound(&b.Amount, code),
		"period": func(path string, v json.RawMessage) error {
			var p Period
			if json.Unmarshal(v, &p) != nil || !slices.Contains(periods, p) {
				return apierr.Newf(code, "`%s` must be %s.", path, strings.Join(periodNames(), ", "))
			}
			b.Period = p
			return nil
		},
	})
	switch {
	case err != nil:
		return err
	case b.Amount == 0:
		return apierr.Newf(code, "`%s.amount` is missing: say how many tokens there are for a period, or send null for `%s`.", path, path)
	case b.Period == "":
		return apierr.Newf(code, "`%s.period` is missing: it must be %s.", path, strings.Join(periodNames(), ", "))
	}
	return nil
}

// members returns the members of the object v; nil: v is null.
func members(v json.RawMessage, path string, code apierr.Code) (fields map[string]json.RawMessage, err error) {
	if json.Unmarshal(v, &fields) != nil {
		return nil, apierr.Newf(code, "`%s` must be an object or null.", path)
	}
	if name := rawjson.Repeated(v); name != "" {
		return nil, apierr.Newf(code, "`%s.%s` comes twice: send it once.", path, name)
	}
	return fields, nil
}

// apply hands each of fields to what knows it, in the order of their names.
func apply(prefix string, fields map[string]json.RawMessage, known map[string]func(string, json.RawMessage) error) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		set := known[name]
		if set == nil {
			return apierr.Unknown("field", prefix+name, name, slices.Sorted(maps.Keys(known)))
		}
		if err := set(prefix+name, fields[name]); err != nil {
			return err
		}
	}
	return nil
}

func bound(to *int64, code apierr.Code) func(string, json.RawMessage) error {
	return func(path string, v json.RawMessage) error {
		if string(v) == "null" {
			*to = 0
			return nil
		}
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil || n < 1 || n > maxBound {
			return apierr.Newf(code, "`%s` must be an integer from 1 to %d, or null for no bound.", path, int64(maxBound))
		}
		*to = n
		return nil
	}
}

func flag(to *bool, code apierr.Code) func(string, json.RawMessage) error {
	return func(path string, v json.RawMessage) error {
		switch string(v) {
		case "true":
			*to = true
		case "false", "null":
			*to = false
		default:
			return apierr.Newf(code, "`%s` must be true, false or null.", path)
		}
		return nil
	}
}

func periodNames() []string {
	names := make([]string, len(periods))
	for i, p := range periods {
		names[i] = fmt.Sprintf("%q", string(p))
	}
	return names
}
