//go:build !race

package wasm_test

const underRace = false
