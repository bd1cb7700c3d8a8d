// Package console tests the console of a whole host in a real browser.
package console

import (
	"os"
	"testing"

	"github.com/parley-search/parley/host/e2e/garbage"
	"github.com/parley-search/parley/host/e2e/house"
)

func TestMain(m *testing.M) {
	garbage.Seldom()
	code := house.Main(m)
	theChromium.end()
	os.Exit(code)
}
