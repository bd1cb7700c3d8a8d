// Command quickstart compiles the program of a checkout and runs `parley quickstart` with
// its arguments. To compile takes minutes the first time, in which `go run` says nothing;
// this command is compiled within seconds, since it imports little, and says how far the
// compiler is.
package main

import (
	"os"
	"strconv"
	"syscall"
)

const (
	module  = "github.com/parley-search/parley"
	program = module + "/cmd/parley"
)

func main() {
	status, err := run()
	if err != nil {
		say("parley: " + err.Error() + "\n")
		status = 1
	}
	os.Exit(status)
}

// run compiles the program and returns the status that it ends with.
func run() (status int, err error) {
	say("parley: compiling; the first time takes 1 to 2 minutes on two processors and 0.6 GB in Go's cache, and gets modules of others from the network\n")
	cache, err := os.UserCacheDir()
	if err != nil {
		return 0, err
	}
	dir := cache + string(os.PathSeparator) + "parley"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	out := dir + string(os.PathSeparator) + "parley-of-quickstart"
	if os.PathSeparator == '\\' {
		out += ".exe"
	}
	tool, err := findGo()
	if err != nil {
		return 0, err
	}
	total := 0
	if err := runTool([]string{tool, "list", "-deps", program}, 1, func(string) { total++ }); err != nil {
		return 0, err
	}
	plugin := startPlugin(tool)
	done := 0
	err = runTool([]string{tool, "build", "-v", "-ldflags=-s -w", "-o", out, program}, 2, func(line string) {
		if isError(line) {
			say("\n" + line + "\n")
			return
		}
		done++
		show(done, total)
	})
	if isTerminal() && done > 0 {
		say("\n")
	}
	if err != nil {
		return 0, err
	}
	if plugin != nil {
		_, _ = plugin.Wait() // if it failed, the program builds it and says why not
	}
	args := append([]string{out, "quickstart"}, os.Args[1:]...)
	_ = syscall.Exec(out, args, os.Environ()) // where the system has it, it does not return
	state, err := wait(args, []*os.File{os.Stdin, os.Stdout, os.Stderr})
	if err != nil {
		return 0, err
	}
	return state.ExitCode(), nil
}

// startPlugin has the plugin that answers compiled beside the program, whose last packages
// wait for each other and leave a processor idle: the program, which builds the plugin, then
// finds its parts in Go's cache. nil: it could not be started.
func startPlugin(tool string) *os.Process {
	args := []string{tool, "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w -buildid=", "-o", os.DevNull, module + "/plugins/provider/extract"}
	env := append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWASM=", "GOEXPERIMENT=")
	process, err := os.StartProcess(tool, args, &os.ProcAttr{Env: env, Files: []*os.File{nil, nil, nil}})
	if err != nil {
		return nil
	}
	return process
}

// show says how far the compiler is: on a terminal always in the same line. Packages that
// were compiled before are not told of, so that done may end below total.
func show(done, total int) {
	text := "parley: " + strconv.Itoa(done) + " of up to " + strconv.Itoa(total) + " packages compiled"
	switch {
	case isTerminal():
		say("\r" + text)
	case done%100 == 0:
		say(text + "\n")
	}
}

// isError reports whether a line of `go build -v` is no package that it compiles.
func isError(line string) bool {
	for _, c := range line {
		if c == ' ' || c == '\t' {
			return len(line) < 16 || line[:16] != "go: downloading "
		}
	}
	return false
}

// runTool runs a command and gives each line of its standard output (1) or error (2) to
// take. The other one is this program's.
func runTool(args []string, from int, take func(line string)) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	files := []*os.File{nil, os.Stdout, os.Stderr}
	files[from] = w
	process, err := os.StartProcess(args[0], args, &os.ProcAttr{Files: files})
	_ = w.Close()
	if err != nil {
		return err
	}
	var line []byte
	for buf := make([]byte, 4096); ; {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			if c == '\n' {
				take(string(line))
				line = line[:0]
			} else {
				line = append(line, c)
			}
		}
		if err != nil {
			break
		}
	}
	state, err := process.Wait()
	if err == nil && !state.Success() {
		os.Exit(1) // the tool has said why
	}
	return err
}

// wait runs a command to its end.
func wait(args []string, files []*os.File) (*os.ProcessState, error) {
	process, err := os.StartProcess(args[0], args, &os.ProcAttr{Files: files})
	if err != nil {
		return nil, err
	}
	return process.Wait()
}

// findGo returns the go command in PATH. Package os/exec would be compiled for it.
func findGo() (string, error) {
	name := "go"
	if os.PathSeparator == '\\' {
		name = "go.exe"
	}
	dir := ""
	for _, c := range os.Getenv("PATH") + string(os.PathListSeparator) {
		if c != os.PathListSeparator {
			dir += string(c)
			continue
		}
		if st, err := os.Stat(dir + string(os.PathSeparator) + name); err == nil && !st.IsDir() {
			return dir + string(os.PathSeparator) + name, nil
		}
		dir = ""
	}
	return "", os.ErrNotExist
}

func isTerminal() bool {
	st, err := os.Stderr.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

func say(text string) { _, _ = os.Stderr.WriteString(text) }
