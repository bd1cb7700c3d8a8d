// Command secrets is the guard of that name: it keeps keys and tokens from being sent and answered.
package main

import "github.com/parley-search/parley/sdk/guard"

func init() { guard.Register(&secrets{}) }

func main() {}
