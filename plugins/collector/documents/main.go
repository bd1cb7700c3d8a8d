// Command documents is the collector of that name: how documents are written and removed, and indexes made and swapped.
package main

import "github.com/parley-search/parley/sdk/collector"

func init() { collector.Register(&window{}) }

func main() {}
