//go:build !wasip1

package provider

// Register makes p the provider of this module. Outside a module there is
// nobody to call it, so here it only checks p.
func Register[S any](p Provider[S]) { NewGuest(p) }
