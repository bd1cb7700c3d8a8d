// Command gemini is the provider plugin of the source gemini.
package main

import (
	"github.com/parley-search/parley/sdk/gemini"
	"github.com/parley-search/parley/sdk/provider"
)

func init() { provider.Register(&gemini.Provider{}) }

func main() {}
