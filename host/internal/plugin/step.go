package plugin

import "time"

// A Step is something that happened in the life of a version, for the log.
type Step struct {
	What    string // one of the constants below
	Name    string // of the plugin; empty where only the file is known
	Version string
	SHA256  string
	From    string
	// Before is the version that another one took the place of, of StepSwapped, or
	// the plugin that answered Source until now, of StepTaken.
	Before string
	// Source is what a provider answers, of StepLoaded and StepTaken, and Owner
	// the plugin that answers it where a workspace names none.
	Source, Owner string
	Took          time.Duration
	Err           error // of StepRefused and StepContested: why
}

// The steps, in their order.
const (
	StepFound    = "found"    // the deployment wants it and it is not loaded
	StepVerified = "verified" // it is what was wanted, and its manifest is right
	StepCompiled = "compiled" // it is metered, compiled and has started
	StepTested   = "tested"   // it answers its own self-test as it should
	StepLoaded   = "loaded"   // streams may begin on it
	StepSwapped  = "swapped"  // it is the version in use, in place of another
	StepTaken    = "taken"    // it answers its source, in place of a plugin of another name
	StepRetired  = "retired"  // no stream begins on it any more
	StepClosed   = "closed"   // its last stream has ended
	StepRefused  = "refused"  // it does not run; nothing else has changed
	// StepContested says that a source is answered by no plugin, or not by the one
	// that somebody may expect.
	StepContested = "contested"
)

func (o Options) log(s Step) {
	if o.Log != nil {
		o.Log(s)
	}
}

func (p *loaded) step(o Options, what string, took time.Duration) {
	o.log(Step{What: what, Name: p.manifest.Name, Version: p.manifest.Version, SHA256: p.sha256, From: p.from, Took: took})
}
