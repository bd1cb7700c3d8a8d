// Command defuse is the guard of that name: it takes out of documents what a person does not see, and marks what gives a model orders.
package main

import "github.com/parley-search/parley/sdk/guard"

func init() { guard.Register(&defuse{}) }

func main() {}
