// Package guard runs texts through guard plugins: the guards of one answer form a
// [Chain], with whole texts and streams. It knows nothing of conversations.
package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// A Plugin is a guard plugin. Safe for concurrent use.
type Plugin interface {
	Manifest() *abi.Manifest
	// Guard appends the output of one guard call (see [abi.GuardOutput]) to dst. in is
	// made by [abi.AppendGuardInput].
	Guard(ctx context.Context, in, dst []byte) ([]byte, error)
}

// Plugins finds guards.
type Plugins interface {
	// GuardManifest is that of the guard of a name; false: none is loaded.
	GuardManifest(name string) (*abi.Manifest, bool)
	// AcquireGuard returns the guard of a name for the calls of one answer to client.
	// It stays open until release is called, once. Where ok is false, release does
	// nothing.
	AcquireGuard(ctx context.Context, name string, client provider.Client) (p Plugin, release func(), ok bool)
	// GuardNames lists the names of the guards that are loaded, sorted.
	GuardNames() []string
}

// A Use is a guard with how it is used.
type Use struct {
	Plugin  string                     `json:"plugin"`            // its name
	Stages  []string                   `json:"stages"`            // of [abi.Stages]; nil: all of the manifest
	Options map[string]json.RawMessage `json:"options,omitempty"` // those that are set
	OnFault string                     `json:"onFault,omitempty"` // [FaultOpen], or closed
}

// The values of [Use.OnFault].
const (
	FaultClosed = "closed"
	FaultOpen   = "open"
)

// What a call of a guard came to, for figures.
const (
	ActionPass  = "pass"
	ActionEdit  = "edit"
	ActionBlock = "block"
	ActionFault = "fault"
	ActionNote  = "note"
)

// An Event is what a call of a guard came to. It never has a text.
type Event struct {
	Guard, Stage, Action string
	Label                string // of a note
	Edits                int
	Took                 time.Duration // of a call; none of a note
	Err                  error         // of a fault
}

// A Blocked is how a guard ends an answer.
type Blocked struct {
	Guard, Stage string
	Refusal      bool   // the message is the assistant's; else it is an error's
	Message      string // may be empty
	Item         int    // of the call
	Fault        error  // the guard failed, and said nothing itself
	// Room is how many bytes the guard takes at once, where it failed at a text that
	// has more; else 0.
	Room int
}

func (e *Blocked) Error() string {
	if e.Fault != nil {
		return fmt.Sprintf("guard %s failed at %s: %v", e.Guard, e.Stage, e.Fault)
	}
	return fmt.Sprintf("guard %s blocked at %s", e.Guard, e.Stage)
}

// Unwrap returns the fault.
func (e *Blocked) Unwrap() error { return e.Fault }
