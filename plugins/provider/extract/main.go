// Command extract is the provider plugin of the source extract: it answers from
// what a search finds, without a model.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(extract{}) }

func main() {}
