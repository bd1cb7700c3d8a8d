package plugin

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// A Constraint says which versions will do. The zero value takes any version,
// a release before a pre-release.
type Constraint struct {
	exact     string // with "v", as package semver wants it
	low, high string // low <= version < high
}

// ParseConstraint reads one of these forms:
//
//	""             any
//	1.2.3, =1.2.3  that version
//	~1.2.3         1.2.3 or later, below 1.3.0; ~1.2 from 1.2.0; ~1 is ^1
//	^1.2.3         1.2.3 or later, below 2.0.0; ^1.2 from 1.2.0, ^1 from 1.0.0
//	^0.2.3         0.2.3 or later, below 0.3.0, since 0.x promises no more
//
// Ranges hold no pre-releases.
func ParseConstraint(s string) (Constraint, error) {
	if s == "" {
		return Constraint{}, nil
	}
	if s[0] != '~' && s[0] != '^' {
		if v := strings.TrimPrefix(s, "="); ValidVersion(v) {
			return Constraint{exact: "v" + v}, nil
		}
		return Constraint{}, badConstraint(s)
	}
	parts := regexp.MustCompile(`^[~^](0|[1-9]\d{0,8})(?:\.(0|[1-9]\d{0,8}))?(?:\.(0|[1-9]\d{0,8}))?$`).FindStringSubmatch(s)
	if parts == nil {
		return Constraint{}, badConstraint(s)
	}
	var n [3]int
	given := 0
	for i, p := range parts[1:] {
		if p == "" {
			break
		}
		n[i], _ = strconv.Atoi(p) // at most nine digits
		given++
	}
	c := Constraint{low: fmt.Sprintf("v%d.%d.%d", n[0], n[1], n[2])}
	switch {
	case given == 1 || s[0] == '^' && n[0] > 0:
		c.high = fmt.Sprintf("v%d.0.0", n[0]+1)
	case s[0] == '^' && n[1] == 0 && given == 3:
		c.high = fmt.Sprintf("v0.0.%d", n[2]+1)
	default:
		c.high = fmt.Sprintf("v%d.%d.0", n[0], n[1]+1)
	}
	return c, nil
}

func badConstraint(s string) error {
	return fmt.Errorf("version constraint %s is none of: 1.2.3, ~1.2, ^1 (and the like)", quote(s))
}

// Allows reports whether version, without "v", meets c.
func (c Constraint) Allows(version string) bool {
	v := "v" + version
	switch {
	case c.exact != "":
		return semver.Compare(v, c.exact) == 0
	case c.low == "":
		return true
	default:
		return semver.Prerelease(v) == "" && semver.Compare(v, c.low) >= 0 && semver.Compare(v, c.high) < 0
	}
}

// newer orders two versions without "v": a release before any pre-release,
// then the higher before the lower.
func newer(a, b string) int {
	a, b = "v"+a, "v"+b
	if pa, pb := semver.Prerelease(a) != "", semver.Prerelease(b) != ""; pa != pb {
		if pa {
			return 1
		}
		return -1
	}
	return semver.Compare(b, a)
}
