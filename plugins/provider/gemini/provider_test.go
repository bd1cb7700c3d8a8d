package main

import (
	"testing"

	"github.com/parley-search/parley/sdk/gemini"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(&gemini.Provider{}), "testdata") }

func TestRecordings(t *testing.T) {
	plugintest.RunCorpus(t, plugintest.New(&gemini.Provider{}), "gemini")
}

func FuzzDecode(f *testing.F) { plugintest.FuzzStream(f, plugintest.New(&gemini.Provider{}), "gemini") }

func FuzzError(f *testing.F) { plugintest.FuzzFailure(f, plugintest.New(&gemini.Provider{}), "gemini") }
