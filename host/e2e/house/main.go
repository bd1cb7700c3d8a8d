package house

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// Main is a package's TestMain: it runs m and returns the code to exit with. More
// parallel tests run at a time than there are processors, unless -parallel says how
// many: half of their time they wait. More only fail each other by the time limits
// of the product. No test finds this machine's passwords of registries.
func Main(m *testing.M) (code int) {
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
		return 1
	}
	code = m.Run()
	_ = os.RemoveAll(dir)
	return code
}
