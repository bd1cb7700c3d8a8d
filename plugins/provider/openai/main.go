// Command openai is the provider plugin of the source openAi.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&openAI{}) }

func main() {}
