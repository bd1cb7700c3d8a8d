// Package console tests the console of a whole host in a real browser.
package console

import (
	"os"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

func TestMain(m *testing.M) {
	code := house.Main(m)
	theChromium.end()
	os.Exit(code)
}
