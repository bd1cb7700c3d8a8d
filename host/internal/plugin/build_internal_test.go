package plugin

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestQuickstartBuildsAlike holds what cmd/quickstart compiles beside the program to what the
// program builds: with other settings it would be compiled twice, and nobody would notice.
func TestQuickstartBuildsAlike(t *testing.T) {
	source, err := os.ReadFile("../../../cmd/quickstart/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]string{buildFlags, buildEnv} {
		want := strings.Trim(fmt.Sprintf("%q", list), "[]")
		if want = strings.ReplaceAll(want, `" "`, `", "`); !strings.Contains(string(source), want) {
			t.Errorf("cmd/quickstart does not build the plugin with %s", want)
		}
	}
}
