// Package e2e tests the whole host, as its users meet it: started with options,
// asked over HTTP, with plugins, providers, clocks and networks that misbehave. Its
// tests of the console are package console's.
package e2e

import (
	"os"
	"testing"

	"github.com/parley-search/parley/host/e2e/garbage"
	"github.com/parley-search/parley/host/e2e/house"
)

func TestMain(m *testing.M) {
	garbage.Seldom()
	os.Exit(house.Main(m))
}
