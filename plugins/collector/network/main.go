// Command network is the collector of that name: who calls, which other instances are declared, what is exported, whose stats are read.
package main

import "github.com/parley-search/parley/sdk/collector"

func init() { collector.Register(&window{}) }

func main() {}
