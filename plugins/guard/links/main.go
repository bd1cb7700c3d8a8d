// Command links is the guard of that name: it lets links and images of an answer lead to known hosts only.
package main

import "github.com/parley-search/parley/sdk/guard"

func init() { guard.Register(&links{}) }

func main() {}
