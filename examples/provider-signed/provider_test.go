package main

import (
	"testing"

	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(signed{}), "testdata") }

func TestBadStreams(t *testing.T) {
	plugintest.RunBad(t, plugintest.New(signed{}), "testdata", nil)
}
