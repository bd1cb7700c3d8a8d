// Command settings is the collector of that name: what settings of indexes are set to, and which features a request switched.
package main

import "github.com/parley-search/parley/sdk/collector"

func init() { collector.Register(&window{}) }

func main() {}
