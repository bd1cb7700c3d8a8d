// Command signed is a provider for an API whose requests are signed as AWS signs
// them (Signature Version 4), with a region and two keys as options: the plugin
// sees none of the keys, and has no line that signs.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(signed{}) }

func main() {}
