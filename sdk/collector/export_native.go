//go:build !wasip1

package collector

// Register makes c the collector of this module. Outside a module there is
// nobody to call it, so here it only checks c.
func Register[S any, C interface {
	*S
	Collector
}](c C) {
	NewGuest[S](c)
}
