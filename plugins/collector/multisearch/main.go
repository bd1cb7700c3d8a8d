// Command multisearch is the collector of that name: what one call of multi-search holds: queries, indexes, federation, remotes.
package main

import "github.com/parley-search/parley/sdk/collector"

func init() { collector.Register(&window{}) }

func main() {}
