// Package cmdutil is what the commands of the program share: options as flags, the
// client of a running service, results for people and programs, and the terminal.
package cmdutil

// A UsageError is a mistake in what the operator wrote.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }
