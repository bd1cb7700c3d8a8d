// Package garbage has the tests of a package collect garbage seldom.
package garbage

import (
	"flag"
	"os"
	"runtime/debug"
)

// Seldom has this process collect garbage a quarter as often as usual: tests make
// much of it and keep little, and so save a fifth of their processor time.
// Benchmarks collect it as the program does, and who sets GOGC says how often.
// It is for a TestMain, and parses the flags.
func Seldom() {
	flag.Parse()
	if os.Getenv("GOGC") == "" && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
}
