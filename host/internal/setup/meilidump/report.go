package meilidump

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// A Report says what came of a dump.
type Report struct {
	Version   string         `json:"version"`   // of the Meilisearch that made it
	Documents map[string]int `json:"documents"` // taken, by index
	Keys      int            `json:"keys"`
	Chats     int            `json:"workspaces"`
	Webhooks  int            `json:"webhooks"`
	Remotes   int            `json:"remotes"`
	Left      []string       `json:"notTaken"` // what was not taken, and why: a sentence each
}

// Write writes the report for people: what was taken, and each thing that was
// not.
func (r *Report) Write(w io.Writer) {
	fmt.Fprintf(w, "taken from a dump of Meilisearch %s:\n", r.Version)
	for _, uid := range slices.Sorted(maps.Keys(r.Documents)) {
		fmt.Fprintf(w, "  index %s: %d documents\n", uid, r.Documents[uid])
	}
	fmt.Fprintf(w, "  %d API keys, %d workspaces, %d webhooks, %d remotes\n", r.Keys, r.Chats, r.Webhooks, r.Remotes)
	if len(r.Left) > 0 {
		fmt.Fprintln(w, "not taken:")
	}
	for _, left := range r.Left {
		fmt.Fprintln(w, "  "+left)
	}
}
