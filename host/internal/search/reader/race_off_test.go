//go:build !race

package reader_test

import "testing"

const underRace = false

// cacheFor is of this run alone.
func cacheFor(testing.TB) string { return pdfCache }
