package limit

import "net/netip"

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
	// Tenant is the hash of the tenant token that asks, or of the user that it
	// names, empty where none does, and Address where it is asked from: one of them
	// is the client. Token, of a key, are the limits of the tenant token.
	Tenant  string
	Address netip.Addr
	Token   Limits
}

// client names who of the party's clients asks. Whoever has an IPv6 address has a
// network of them.
func (p *Party) client() Subject {
	if p.Tenant != "" {
		return "/c/" + Subject(p.Tenant)
	}
	address := p.Address.Unmap()
	if network, err := address.Prefix(64); address.Is6() && err == nil {
		address = network.Addr()
	}
	return "/c/" + Subject(address.String())
}

// A share is what a meter is asked about for a party: the party as a whole, one
// client of it, or a tenant token.
type share struct {
	subject   Subject
	limits    Limits
	uncounted bool // what it asks for is counted by another one
}

// shares are those of an answer, in the order in which their meters are locked.
type shares [5]share

func sharesOf(key, workspace Party) (all shares) {
	all[0], all[1] = key.split()
	if key.Subject != "" && !key.Token.IsZero() {
		all[2] = share{subject: key.Subject + "/t/" + Subject(key.Tenant), limits: key.Token, uncounted: true}
	}
	all[3], all[4] = workspace.split()
	return all
}

// split is p as a whole, and the client of it that its limits hold for: none where
// they hold for all clients together.
func (p *Party) split() (whole, client share) {
	whole = share{subject: p.Subject, limits: p.Limits}
	if p.Subject == "" || !p.Limits.PerClient {
		return whole, share{}
	}
	client = share{subject: p.Subject + p.client(), limits: p.Limits, uncounted: true}
	whole.limits = Limits{Tokens: Budget{Period: p.Limits.Tokens.Period}} // it counts, by the same spans
	return whole, client
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
