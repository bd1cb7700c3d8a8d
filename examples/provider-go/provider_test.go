package main

import (
	"testing"

	"github.com/parley-search/parley/sdk/plugintest"
)

// TestCases runs the cases that all four languages must meet.
func TestCases(t *testing.T) {
	plugintest.RunCases(t, plugintest.New(&plain{}), "../testdata/provider")
}
