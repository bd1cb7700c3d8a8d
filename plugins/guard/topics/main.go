// Command topics is the guard of that name: it ends the answer where words of a list come up.
package main

import "github.com/parley-search/parley/sdk/guard"

func init() { guard.Register(&topics{}) }

func main() {}
