//go:build race

package reader_test

// underRace says that the race detector is at work, whose memory is beyond what
// a process that compiles aside may have.
const underRace = true
