package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// sleeps are the calls of time.Sleep that tests may have outside of
// [synctest.Test], by file: how many, and why. A new one needs a better idea: an
// event; a bubble of testing/synctest; package clocktest; or, for what tells
// nobody, package waittest.
var sleeps = map[string]struct {
	n   int
	why string
}{
	"host/cli/clients_v1_test.go":                       {1, otherProcess},
	"host/cli/disk_full_linux_test.go":                  {1, otherProcess},
	"host/cli/hangup_unix_test.go":                      {1, otherProcess},
	"host/cli/kill_test.go":                             {2, killMoment + "; " + otherProcess},
	"host/cli/model_test.go":                            {1, otherProcess},
	"host/cli/operation_kill_test.go":                   {4, killMoment + "; " + otherProcess},
	"host/cli/plugin_kill_test.go":                      {1, killMoment},
	"host/cli/swap_clients_test.go":                     {1, otherProcess},
	"host/cli/swap_test.go":                             {2, "a window without a swap, as long as one with it; a provider whose words come apart"},
	"host/cli/task_kill_test.go":                        {1, otherProcess},
	"host/cli/telemetry_kill_test.go":                   {1, otherProcess},
	"host/cli/weather_soak_test.go":                     {1, "the soak lasts as long as it is told to"},
	"host/cli/weather_stop_test.go":                     {2, otherProcess},
	"host/e2e/cluster_figures_linux_test.go":            {5, "measurements, by the clock of the machine"},
	"host/e2e/storm_rounds_unix_test.go":                {1, killMoment},
	"host/e2e/weather_slow_test.go":                     {1, "the long form reads as slowly as a slow client"},
	"host/e2e/weather_station_test.go":                  {1, "the goroutines at rest are the fewest of ten looks: nothing says that the last has gone"},
	"host/internal/api/httpapi/completions_test.go":     {1, "a provider that goes on speaking must not fill the machine"},
	"host/internal/api/httpapi/logs_test.go":            {1, "a client that goes on asking must not fill the machine"},
	"host/internal/api/httpapi/slow_test.go":            {1, "a client that drips bytes into a real connection"},
	"host/internal/search/broken_test.go":               {1, "that nothing happens has no event: twenty looks, a little apart"},
	"host/internal/egress/upstream/record_test.go":      {1, "a network that cuts an answer in pieces"},
	"host/internal/egress/upstream/silence_test.go":     {1, "closes at different moments of a read"},
	"host/internal/plugin/wasm/neighbour_bench_test.go": {3, "a benchmark of latency, by the clock of the machine"},
	"host/internal/base/watch/watch_test.go":            {2, "a file that is written slowly, and a wait in which nothing more may come: the kernel tells of both by its own clock"},
	"host/internal/base/waittest/waittest.go":           {1, "the pause of what waits for others"},
}

const (
	otherProcess = "another process tells nobody of it"
	killMoment   = "the moment of a kill is drawn by chance"
)

// TestLayoutSleeps refuses tests that wait by the clock of the machine.
func TestLayoutSleeps(t *testing.T) {
	seen := map[string]int{}
	files := 0
	for _, top := range []string{"abi", "cmd", "host", "plugins", "sdk"} {
		err := filepath.WalkDir(filepath.Join(root(t), top), func(name string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(root(t), name)
			rel = filepath.ToSlash(rel)
			if err != nil || !strings.HasSuffix(name, ".go") || !strings.HasSuffix(name, "_test.go") && !strings.Contains(rel, "waittest/") {
				return err
			}
			files++
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err == nil {
				seen[rel] = countSleeps(f)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 300 {
		t.Errorf("%d files of tests read, want those of the whole tree", files)
	}
	for name, n := range seen {
		switch want := sleeps[name]; {
		case n > want.n:
			t.Errorf("%s calls time.Sleep %d times outside of synctest.Test, and may %d times: wait for an event, in a bubble or by package waittest", name, n, want.n)
		case n < want.n:
			t.Errorf("%s calls time.Sleep %d times: lower its %d in the table", name, n, want.n)
		}
	}
	for name, want := range sleeps {
		if _, ok := seen[name]; !ok || want.why == "" {
			t.Errorf("the table has a row of %s, which is no file of tests, or no reason", name)
		}
	}
}

// TestSleepsCounted tests the test.
func TestSleepsCounted(t *testing.T) {
	const source = `package x
func helper() { time.Sleep(1) }
func TestA(t *testing.T) {
	for until := now(); ; time.Sleep(2) { }
	synctest.Test(t, func(t *testing.T) { time.Sleep(3) })
	go func() { time.Sleep(4) }()
	sleep := time.Sleep
	clock.Sleep(5)
}`
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := countSleeps(f); got != 4 {
		t.Errorf("%d sleeps counted, want 4", got)
	}
}

// countSleeps counts the mentions of time.Sleep outside of bubbles.
func countSleeps(f *ast.File) (n int) {
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			return !isSelector(node.Fun, "synctest", "Test")
		case *ast.SelectorExpr:
			if isSelector(node, "time", "Sleep") {
				n++
			}
		}
		return true
	})
	return n
}

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}
