package limit

// A Subject is who pays: a key or a workspace.
type Subject string

// Key is the subject of the API key with this uid.
func Key(uid string) Subject { return Subject("k/" + uid) }

// Workspace is the subject of the workspace with this uid.
func Workspace(uid string) Subject { return Subject("w/" + uid) }

// A Party is a subject with the limits that it has now. One without a subject pays
// nothing: nobody is counted who has the master key.
type Party struct {
	Subject Subject
	Limits  Limits
}

// Counts is what a subject asked for.
type Counts struct {
	Requests   int64 `json:"requests,omitempty"` // to providers
	Prompt     int64 `json:"prompt,omitempty"`   // tokens
	Completion int64 `json:"completion,omitempty"`
	Refused    int64 `json:"refused,omitempty"` // by a limit
}

func (c *Counts) add(more Counts) {
	c.Requests += more.Requests
	c.Prompt += more.Prompt
	c.Completion += more.Completion
	c.Refused += more.Refused
}

// Plus returns the sum of both.
func (c Counts) Plus(more Counts) Counts {
	c.add(more)
	return c
}

// An Entry is what a subject asked for in a span.
type Entry struct {
	Subject Subject
	Span    Span
	Counts  Counts
}

// Storage keeps what must survive the process. Safe for concurrent use. What is kept
// of a span goes a while after its end, by itself. Package limittest holds the
// contract as a test; see package store for the real one.
type Storage interface {
	// Spent returns what SetSpent was last told, 0 where it was not.
	Spent(s Subject, span Span) (tokens int64, err error)
	// SetSpent has written tokens to the disk when it returns.
	SetSpent(s Subject, span Span, tokens int64) error
	// AddCounts adds at most a thousand entries to what is kept: all or none.
	AddCounts(more []Entry) error
	// Counts fills in what is kept of each of entries.
	Counts(entries []Entry) error
	// Forget removes all that is kept of a subject.
	Forget(s Subject) error
}
