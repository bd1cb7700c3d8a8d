package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// wings are the folders of host/internal with the others that each imports, from the one
// that all import to the one that knows all. None imports a later one.
var wings = []struct{ name, imports string }{
	{"base", ""},
	{"access", "base"},
	{"cluster", "base"},
	{"plugin", "base"},
	{"task", "base"},
	{"search", "access base plugin task"},
	{"chat", "access base plugin search"},
	{"telemetry", "base chat plugin"},
	{"egress", "access base search task telemetry"},
	{"data", "access base chat cluster egress plugin search task telemetry"},
	{"api", "access base chat cluster egress plugin search task telemetry"},
	{"setup", "access api base chat cluster data egress plugin search task telemetry"},
}

// TestLayoutWings holds the wings to the rows of their packages, and to their order.
func TestLayoutWings(t *testing.T) {
	wingOf := func(pkg string) string {
		pkg, inside := strings.CutPrefix(pkg, "~")
		if name, _, _ := strings.Cut(pkg, "/"); inside && name != "..." {
			return name
		}
		return ""
	}
	got := map[string]map[string]bool{}
	for _, r := range layout {
		wing := wingOf(r.pkg)
		if wing == "" {
			continue
		}
		if got[wing] == nil {
			got[wing] = map[string]bool{}
		}
		for _, pkg := range strings.Fields(r.ours) {
			if other := wingOf(pkg); other != "" && other != wing {
				got[wing][other] = true
			}
		}
	}
	before := map[string]bool{}
	for _, w := range wings {
		if imports := strings.Join(slices.Sorted(maps.Keys(got[w.name])), " "); imports != w.imports {
			t.Errorf("wing %s imports %q by the rows of its packages, and %q by its own row", w.name, imports, w.imports)
		}
		for _, other := range strings.Fields(w.imports) {
			if !before[other] {
				t.Errorf("wing %s imports %s, which comes later: wings would import each other", w.name, other)
			}
		}
		before[w.name] = true
	}
	for name := range got {
		if !before[name] {
			t.Errorf("wing %s has no row", name)
		}
	}
}

// wingDiagram draws the wings but for base, which all import; an import that follows from
// others is not drawn.
func wingDiagram() string {
	reached := map[string]map[string]bool{} // by wing, what it imports by way of others
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for _, w := range wings {
		reached[w.name] = map[string]bool{}
		all := strings.Fields(w.imports)
		for _, other := range all {
			maps.Copy(reached[w.name], reached[other])
		}
		for _, other := range all {
			if other != "base" && !reached[w.name][other] {
				fmt.Fprintf(&b, "  %s --> %s\n", w.name, other)
			}
		}
		for _, other := range all {
			reached[w.name][other] = true
		}
	}
	b.WriteString("```\n")
	return b.String()
}
