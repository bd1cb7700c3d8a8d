package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// searchRules are those of a tenant token: which indexes, and under which
// filter.
type searchRules struct {
	filters map[string]json.RawMessage // by index pattern; nil: no filter
}

// parseRules reads the claim searchRules: an array of patterns, or an object
// from pattern to null or {"filter": string or array}.
func parseRules(claim json.RawMessage) (*searchRules, error) {
	r := &searchRules{filters: make(map[string]json.RawMessage)}
	if name := rawjson.Repeated(claim); name != "" {
		return nil, fmt.Errorf("searchRules: %.64q comes twice", name)
	}
	var patterns []string
	if json.Unmarshal(claim, &patterns) == nil && !rawjson.IsNull(claim) {
		for _, p := range patterns {
			r.filters[p] = nil
		}
		return r, r.check()
	}
	var rules map[string]json.RawMessage
	if err := json.Unmarshal(claim, &rules); err != nil || rules == nil {
		return nil, errors.New("searchRules must be an array of index patterns or an object")
	}
	for p, raw := range rules {
		filter, err := parseRule(raw)
		if err != nil {
			return nil, fmt.Errorf("searchRules for %.64q: %w", p, err)
		}
		r.filters[p] = filter
	}
	return r, r.check()
}

// parseRule reads what stands beside one pattern. What it does not know it
// refuses: to pass over a rule would open more than its author meant.
func parseRule(raw json.RawMessage) (json.RawMessage, error) {
	if rawjson.IsNull(raw) {
		return nil, nil
	}
	var rule struct {
		Filter json.RawMessage `json:"filter"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	members, _ := rawjson.MembersOf(raw)
	if err := d.Decode(&rule); err != nil || rule.Filter != nil && !(members.Next() && members.Called("filter")) {
		return nil, errors.New("must be null or an object with nothing but a filter")
	}
	if rule.Filter == nil || rawjson.IsNull(rule.Filter) {
		return nil, nil
	}
	if c := rule.Filter[0]; c != '"' && c != '[' {
		return nil, errors.New("filter must be a string or an array")
	}
	var filter any
	if err := json.Unmarshal(rule.Filter, &filter); err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	if blank(filter) {
		return nil, errors.New("filter is empty or has an empty part, which would hide nothing: write a condition, or null to let all documents through")
	}
	return rule.Filter, nil
}

// blank reports whether a filter, or a part of it, says nothing. A template that
// was filled with nothing makes such a filter, where one was meant that hides.
func blank(filter any) bool {
	switch f := filter.(type) {
	case string:
		return strings.TrimSpace(f) == ""
	case []any:
		return len(f) == 0 || slices.ContainsFunc(f, blank)
	}
	return false
}

func (r *searchRules) check() error {
	for p := range r.filters {
		if !ValidPattern(p) {
			return fmt.Errorf("searchRules: %.64q is not an index pattern", p)
		}
	}
	return nil
}

// filter returns the filter of the index uid, or nil. The most specific pattern
// counts: the uid itself, else the longest beginning. ok is false where none
// fits.
func (r *searchRules) filter(uid string) (filter json.RawMessage, ok bool) {
	if f, ok := r.filters[uid]; ok {
		return f, true
	}
	longest := -1
	for p, f := range r.filters {
		prefix, isPrefix := strings.CutSuffix(p, "*")
		if isPrefix && len(prefix) > longest && strings.HasPrefix(uid, prefix) {
			longest, filter = len(prefix), f
		}
	}
	return filter, longest >= 0
}
