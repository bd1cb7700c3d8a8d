// Command cohere is the provider plugin of the source cohere.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&cohere{}) }

func main() {}
