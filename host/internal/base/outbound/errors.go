package outbound

// An Error says why no response came, or none to its end.
type Error struct {
	Kind    ErrorKind
	Message string // safe to show to the client: no address that it did not configure, no secret
	Err     error
	// Why there was no connection, for a log: it quotes neither the other side nor a client.
	Why string
	// Retryable: nothing reached the provider (the connection failed).
	Retryable bool
	// Over is the limit that a [Timeout] went over, where it is one of the deployment's.
	Over TimeLimit
}

// A TimeLimit is one of those that a request has.
type TimeLimit uint8

// The limits of a request's time.
const (
	_ TimeLimit = iota
	LimitFirstByte
	LimitSilence
	LimitWhole
)

// ErrorKind sorts an [Error].
type ErrorKind string

// The kinds of [Error].
const (
	Refused      ErrorKind = "refused" // by a grant, an address rule, a redirect
	Connect      ErrorKind = "connect" // no connection: DNS, TLS, refused
	Timeout      ErrorKind = "timeout"
	Broken       ErrorKind = "broken" // ended in the middle
	TooLong      ErrorKind = "too_long"
	Unauthorized ErrorKind = "unauthorized" // the workspace's credentials sign nobody in
)

func (e *Error) Error() string {
	if e.Err != nil {
		return string(e.Kind) + ": " + e.Message + ": " + e.Err.Error()
	}
	return string(e.Kind) + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
