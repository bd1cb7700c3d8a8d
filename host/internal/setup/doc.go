// Package setup is the wing that knows all others: what is done before a host
// serves, and around it.
//
//   - config: options, from flags, environment and file.
//   - node: what a host is among hosts: alone, or a member of a cluster.
//   - backup, meilidump, masterkey: a data directory is made, filled, re-sealed.
//   - figures, metrics: what GET /metrics shows.
//   - testhook: what tests of the whole reach.
//
// Only host imports it. Start at config.Config.
package setup
