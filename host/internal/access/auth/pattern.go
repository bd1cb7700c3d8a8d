package auth

import (
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// maxIndexUID is the longest index uid, in bytes.
const maxIndexUID = 400

// Match reports whether the index uid falls under pattern: a uid, or the
// beginning of some and "*".
func Match(pattern, uid string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(uid, prefix)
	}
	return pattern == uid
}

func matchAny(patterns []string, uid string) bool {
	for _, p := range patterns {
		if Match(p, uid) {
			return true
		}
	}
	return false
}

// ValidPattern reports whether p is a uid, or the beginning of some and "*".
func ValidPattern(p string) bool {
	prefix, isPrefix := strings.CutSuffix(p, "*")
	if len(prefix) > maxIndexUID || prefix == "" && !isPrefix {
		return false
	}
	for _, c := range []byte(prefix) {
		if !letter(c) {
			return false
		}
	}
	return true
}

func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// checkWorkspaces returns [apierr.InvalidAPIKeyWorkspaces] for a pattern that is
// none.
func checkWorkspaces(patterns []string) error {
	for i, p := range patterns {
		if !ValidPattern(p) {
			return apierr.Newf(apierr.InvalidAPIKeyWorkspaces,
				"`workspaces[%d]`: %.64q is not a workspace pattern: give a workspace uid (letters, digits, `-` and `_`, at most %d), the beginning of one and `*`, or `*`.", i, p, maxIndexUID)
		}
	}
	return nil
}

// checkPatterns returns [apierr.InvalidAPIKeyIndexes] for one that is none.
func checkPatterns(patterns []string) error {
	for i, p := range patterns {
		if !ValidPattern(p) {
			return apierr.Newf(apierr.InvalidAPIKeyIndexes,
				"`indexes[%d]`: %.64q is not an index pattern: give an index uid (letters, digits, `-` and `_`, at most %d), the beginning of one and `*`, or `*`.", i, p, maxIndexUID)
		}
	}
	return nil
}
