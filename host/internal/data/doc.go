// Package data is the wing of what lasts.
//
//   - store: one Badger database with all that must survive a restart. It
//     implements the storage interfaces that the other wings declare.
//   - archive: the file format of dumps and snapshots.
//
// It imports the wings whose values it keeps, and only host and setup import it.
// Start at the key schema on top of store.go.
package data
