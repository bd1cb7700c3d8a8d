// Package base is the wing of what all others use and what knows none of them:
// errors, JSON, secrets, addresses, logs, memory, the operating system.
//
//   - apierr, rawjson, secret, outbound, feature: values and their checks.
//   - contain, logs, memory, sysinfo, watch, badgerdir: the process and its machine.
//   - clocktest, freeport, waittest: for tests.
//
// All wings may import it; its rooms import each other and nothing else of ours.
// Start at apierr, which every error that a client sees is made of.
package base
