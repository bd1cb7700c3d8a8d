//go:build !wasip1

package guard

// Register makes g the guard of this module. Outside a module there is nobody to call it.
func Register(g Guard) { NewGuest(g) }
