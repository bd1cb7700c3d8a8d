package plugin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
)

// A Plan is all that a [Set] is told of a deployment.
type Plan struct {
	Wanted  []Wanted
	Refused []Refused // what is there and must not run
	// Sources names the plugin that answers each source where a workspace names
	// none. A plugin of another name answers only the workspaces that name it.
	// An empty name says that none answers; a source that is absent stays with
	// the plugin that answered it before, as long as that one runs.
	Sources map[string]string
	// Warnings are about Sources: sentences for the operator.
	Warnings []error
}

// ErrContested says that plugins of several names would answer one source, and
// that nobody chose between them.
var ErrContested = errors.New("its source has two plugins")

// A Wanted is one version of a plugin that a deployment wants to run: what its
// lock says, what the binary carries or, without a lock, what the directory
// holds.
type Wanted struct {
	Name    string
	Version string
	SHA256  string // of the whole module, in hexadecimal
	From    string // where it lies: a file's path, or "embedded"
	// Use says that this version answers where a workspace names none, and
	// wherever it meets what a workspace names: so a rollback holds. Without it
	// the version runs beside the one in use, for the workspaces whose
	// pluginVersion only it meets; a locked one answers nobody else, even where
	// the one in use cannot run.
	Use bool
	// Constraint is what the version in use was chosen by; empty: by itself.
	Constraint string
	// Locked says that a lock names this version and its hash.
	Locked bool
	// Read returns the module, once it agrees with everything above, with the
	// grants that were accepted and with the signature, where one is wanted.
	// Only bytes that it returned may be run or compiled: reading the file again
	// would be reading another one. The error is a sentence that says what was
	// expected, what was found and what to do. b is for its use: what it returns
	// may lie there.
	Read func(b *bytes.Buffer) ([]byte, error)
	// Permit, where there is one, says why a module of this manifest may not run:
	// the part of Read that an operator can change without changing the module. A
	// version that runs already is held against it each time.
	Permit func(m *abi.Manifest) error
}

// A Refused is a plugin that a deployment does not run, and why.
type Refused struct {
	Name, Version string // empty where nothing is known but the file
	From          string // as in [Wanted]
	Err           error  // a sentence for the operator
	// Wanted is what the deployment says of it; nil where it says nothing, as of
	// a file that no lock names.
	Wanted *Wanted
}

// refused is w, which does not run because of err.
func (w *Wanted) refused(err error) Refused {
	said := *w
	said.Read = nil // which may hold the module
	return Refused{w.Name, w.Version, w.From, err, &said}
}

func (r Refused) Error() string { return fmt.Sprintf("load plugin %s: %v", r.From, r.Err) }

// Unwrap returns the reason.
func (r Refused) Unwrap() error { return r.Err }
