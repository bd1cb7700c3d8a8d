// Command tests runs `go test` and says at the end what was skipped, and how to
// have it run. `go test` itself prints nothing about skips in packages that pass.
//
//	go run ./.ci/tests [arguments of go test]
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"./..."}
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests: start go test:", err)
		os.Exit(2)
	}
	skips, err := printResults(os.Stdout, out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests: read the output of go test:", err)
	}
	failed := cmd.Wait()
	printSkips(os.Stdout, skips)
	var exit *exec.ExitError
	switch {
	case errors.As(failed, &exit):
		os.Exit(exit.ExitCode())
	case failed != nil || err != nil:
		os.Exit(2)
	}
}

// An event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
}

// printResults copies to w what `go test` prints without -json: a line for each
// package, and the output of tests that fail. It returns the skipped tests by reason.
func printResults(w io.Writer, r io.Reader) (map[string][]string, error) {
	skips := map[string][]string{}
	output := map[[2]string]*strings.Builder{} // by package and test, until the test ends
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				w.Write(line) // not from a test
			} else {
				e.print(w, output, skips)
			}
		}
		switch {
		case err == io.EOF:
			return skips, nil
		case err != nil:
			return skips, err
		}
	}
}

// print handles one event.
func (e event) print(w io.Writer, output map[[2]string]*strings.Builder, skips map[string][]string) {
	id := [2]string{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		io.WriteString(w, e.Output)
	case "output":
		if output[id] == nil {
			output[id] = &strings.Builder{}
		}
		output[id].WriteString(e.Output)
	case "pass", "skip", "fail":
		said := ""
		if b := output[id]; b != nil {
			said = b.String()
		}
		delete(output, id)
		switch {
		case e.Action == "fail":
			io.WriteString(w, said)
		case e.Test == "":
			printPackage(w, said)
		case e.Action == "skip":
			// Inputs of a fuzz target that are not for it are skipped without a reason.
			if reason := reasonOf(said); reason != "" {
				skips[reason] = append(skips[reason], e.Package[strings.LastIndexByte(e.Package, '/')+1:]+"."+e.Test)
			}
		}
	}
}

// printPackage prints the line about a package that passed.
func printPackage(w io.Writer, said string) {
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "? ") || strings.HasPrefix(line, "\t") {
			io.WriteString(w, line)
		}
	}
}

var place = regexp.MustCompile(`^\s*[\w.]+\.go:\d+: `)

// reasonOf returns the last thing that a skipped test logged.
func reasonOf(said string) (reason string) {
	for line := range strings.Lines(said) {
		if m := place.FindString(line); m != "" {
			reason = strings.TrimSpace(line[len(m):])
		}
	}
	return reason
}

// printSkips lists the reasons, those with most tests first.
func printSkips(w io.Writer, skips map[string][]string) {
	if len(skips) == 0 {
		return
	}
	total := 0
	for _, tests := range skips {
		total += len(tests)
	}
	fmt.Fprintf(w, "\nSkipped: %d tests. CONTRIBUTING.md, section Tests, says more.\n", total)
	reasons := slices.SortedFunc(maps.Keys(skips), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(skips[b]), len(skips[a])), cmp.Compare(a, b))
	})
	for _, reason := range reasons {
		tests := skips[reason]
		fmt.Fprintf(w, "%4d  %s\n      %s", len(tests), reason, tests[0])
		if len(tests) > 1 {
			fmt.Fprintf(w, " and %d more", len(tests)-1)
		}
		fmt.Fprintln(w)
	}
}
