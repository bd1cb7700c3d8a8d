// Command talk is a collector plugin that counts chats, the searches made for
// them, and how long they took. It is the same as those in C, AssemblyScript and
// Rust beside it.
package main

import "github.com/parley-search/parley/sdk/collector"

func init() { collector.Register(&talk{}) }

func main() {}
