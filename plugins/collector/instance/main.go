// Command instance is the collector of that name: how the process was started, which features are on, and the machine that it runs on.
package main

import "github.com/parley-search/parley/sdk/collector"

func init() { collector.Register(&window{}) }

func main() {}
