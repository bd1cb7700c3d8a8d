// Command plain is a provider plugin for servers that speak OpenAI's streaming
// API: text, tool calls, failures. It is the same as those in C, AssemblyScript
// and Rust beside it. For real servers, with all their oddities, there is
// package openai of the SDK.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(&plain{}) }

func main() {}
