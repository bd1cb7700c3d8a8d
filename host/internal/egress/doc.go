// Package egress is the wing of what leaves the host.
//
//   - upstream: the only way out. It checks grants and addresses, sends requests,
//     and cuts answers into events.
//   - credential: signs requests in to providers; no plugin sees a secret.
//   - export: copies indexes to another instance.
//
// Which URL may be called is decided in base/outbound. Domain wings do not import
// it: they declare what they want sent. Start at upstream.Client.
package egress
