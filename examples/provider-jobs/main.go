// Command jobs is a provider for an API that answers later: a request makes a job,
// others ask how it is, and one calls it off where nobody waits any more.
package main

import "github.com/parley-search/parley/sdk/provider"

func init() { provider.Register(jobs{}) }

func main() {}
