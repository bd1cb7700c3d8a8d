// Command azureopenai is the provider plugin of the source azureOpenAi.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&azure{}) }

func main() {}
