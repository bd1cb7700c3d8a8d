// Command ollama is the provider plugin of the source ollama.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&ollama{}) }

func main() {}
