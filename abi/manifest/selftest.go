package manifest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/parley-search/parley/abi"
)

// selfTestCalls are the kinds of plugin, with the calls that their self-tests may
// make.
var selfTestCalls = map[string][]string{
	abi.KindProvider:  {abi.SelfTestEncode, abi.SelfTestDecode, abi.SelfTestError},
	abi.KindCollector: {abi.SelfTestWindow},
	abi.KindGuard:     {abi.SelfTestGuard},
}

// checkSelfTests finds what is wrong with the form of m's self-test.
func checkSelfTests(m *abi.Manifest) (problems []string) {
	if n := len(m.SelfTest); n > abi.MaxSelfTests {
		return []string{fmt.Sprintf("selfTest has %d calls and may have %d", n, abi.MaxSelfTests)}
	}
	for n, t := range m.SelfTest {
		if calls := selfTestCalls[m.Kind]; !slices.Contains(calls, t.Call) {
			problems = append(problems, fmt.Sprintf("selfTest[%d].call is %s and must be one of: %q", n, quoteName(t.Call), calls))
		}
		for name, value := range map[string]abi.RawJSON{"input": t.Input, "output": t.Output} {
			if !bytes.HasPrefix(value, []byte("{")) {
				problems = append(problems, fmt.Sprintf("selfTest[%d].%s must be an object", n, name))
			}
		}
	}
	slices.Sort(problems)
	return problems
}
