package provider

// A Level says how much a line of the log matters.
type Level uint32

// The levels.
const (
	LevelDebug Level = iota
	LevelInfo
	LevelWarn
	LevelError
)
