//go:build race

package wasm_test

// underRace says that the race detector is at work, under which wazero takes
// minutes to compile a Go plugin.
const underRace = true
