// Command mistral is the provider plugin of the source mistral.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&mistral{}) }

func main() {}
