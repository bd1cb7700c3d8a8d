package main

// A usageError is a mistake in what the operator wrote.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }
