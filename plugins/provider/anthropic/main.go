// Command anthropic is the provider plugin of the source anthropic.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&anthropic{}) }

func main() {}
