// Command vertex is the provider plugin of the source vertex.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&vertex{}) }

func main() {}
