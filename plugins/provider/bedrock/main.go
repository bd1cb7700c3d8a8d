// Command bedrock is the provider plugin of the source bedrock.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&bedrock{}) }

func main() {}
