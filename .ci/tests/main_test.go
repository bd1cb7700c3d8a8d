package main

import (
	"strings"
	"testing"
)

// TestPrintResults compares the output for a package of each kind with that of go test.
func TestPrintResults(t *testing.T) {
	const events = `{"Action":"start","Package":"m/a"}
{"Action":"output","Package":"m/a","Test":"TestPass","Output":"=== RUN   TestPass\n"}
{"Action":"output","Package":"m/a","Test":"TestPass","Output":"    a_test.go:3: chatter\n"}
{"Action":"pass","Package":"m/a","Test":"TestPass"}
{"Action":"output","Package":"m/a","Test":"TestTool","Output":"    a_test.go:7: no tool: install it\n"}
{"Action":"skip","Package":"m/a","Test":"TestTool"}
{"Action":"output","Package":"m/a","Test":"TestTool/second","Output":"    a_test.go:9: no tool: install it\n"}
{"Action":"skip","Package":"m/a","Test":"TestTool/second"}
{"Action":"skip","Package":"m/a","Test":"FuzzX/seed#0"}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.1s\n"}
{"Action":"pass","Package":"m/a"}
{"Action":"output","Package":"m/b","Test":"TestBad","Output":"    b_test.go:3: got 1, want 2\n"}
{"Action":"output","Package":"m/b","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"m/b","Test":"TestBad"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.1s\n"}
{"Action":"fail","Package":"m/b"}
{"Action":"build-output","ImportPath":"m/c","Output":"c.go:1:1: expected 'package'\n"}
{"Action":"output","Package":"m/d","Output":"?   \tm/d\t[no test files]\n"}
{"Action":"skip","Package":"m/d"}
`
	var out strings.Builder
	skips, err := printResults(&out, strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	printSkips(&out, skips)
	const want = "ok  \tm/a\t0.1s\n" +
		"    b_test.go:3: got 1, want 2\n--- FAIL: TestBad (0.00s)\nFAIL\tm/b\t0.1s\n" +
		"c.go:1:1: expected 'package'\n" +
		"?   \tm/d\t[no test files]\n" +
		"\nSkipped: 2 tests. CONTRIBUTING.md, section Tests, says more.\n" +
		"   2  no tool: install it\n      a.TestTool and 1 more\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", &out, want)
	}
}
