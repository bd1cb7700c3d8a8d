package main

import (
	"testing"

	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(&gemini{}), "testdata") }

func TestRecordings(t *testing.T) { plugintest.RunCorpus(t, plugintest.New(&gemini{}), "gemini") }
