package plugin

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTellWhile counts the lines of a build: one each ten seconds, and none once it is done.
func TestTellWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told strings.Builder
		done := tellWhile(&told, "extract 1.1.0")
		time.Sleep(25 * time.Second)
		done()
		time.Sleep(time.Hour)
		lines := strings.SplitAfter(told.String(), "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "building plugin extract 1.1.0: 10 s; the first build") || lines[1] != "building plugin extract 1.1.0: 20 s\n" || lines[2] != "" {
			t.Errorf("told %q", lines)
		}
	})
}
