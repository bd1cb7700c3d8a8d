// Command vllm is the provider plugin of the source vLlm.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&vLLM{}) }

func main() {}
