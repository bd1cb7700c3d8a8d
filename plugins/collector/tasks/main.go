// Command tasks is the collector of that name: what is asked of tasks: by uid, and by which filters.
package main

import "github.com/parley-search/parley/sdk/collector"

func init() { collector.Register(&window{}) }

func main() {}
