// Package access is the wing that decides who may do what, and how much of it.
//
//   - auth: API keys, tenant tokens, and the actions that they allow.
//   - limit: how much keys and workspaces may ask of providers, and what they used.
//
// All wings that serve requests may call it. It imports base alone: it knows no
// HTTP, no search and no chat. Start at auth.Service, then limit.Limiter.
package access
