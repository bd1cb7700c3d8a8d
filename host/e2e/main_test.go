package e2e

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// TestMain runs more parallel tests at a time than there are processors, unless
// -parallel says how many: half of their time they wait. More only fail each other
// by the time limits of the product. No test finds this machine's passwords of
// registries.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))) // a number
	}
	dir, err := os.MkdirTemp("", "docker")
	if err == nil {
		err = os.Setenv("DOCKER_CONFIG", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	theChromium.end()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
