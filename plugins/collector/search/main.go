// Command search is the collector of that name: how searches are made, how they end and how long they take.
package main

import "github.com/parley-search/parley/sdk/collector"

func init() { collector.Register(&window{}) }

func main() {}
