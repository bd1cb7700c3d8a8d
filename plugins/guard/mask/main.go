// Command mask is the guard of that name: it keeps personal data from the provider, and
// puts it back in the answer.
package main

import "github.com/parley-search/parley/sdk/guard"

func init() { guard.Register(&mask{}) }

func main() {}
