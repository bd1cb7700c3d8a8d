package host

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// crashFile, in the data directory, gets what Go writes as a fault of the program ends it.
const crashFile = "crash.txt"

// readCrash logs how the process before ended, has what ends this one written down, and reports
// whether no task was the reason. Of a process that was killed nothing is known.
func (h *Host) readCrash(dir string) (otherReason bool) {
	f, err := os.OpenFile(filepath.Join(dir, crashFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		h.log.Warn().Err(err).Msg("what ends the process will not be written down")
		return false
	}
	defer f.Close() // Go has its own descriptor of it
	report := make([]byte, 64<<10)
	n, _ := f.Read(report)
	if n > 0 {
		text := string(report[:n])
		first, _, _ := strings.Cut(text, "\n")
		otherReason = !ofTask(text)
		h.log.Error().Str("by", first).Bool("of_a_task", !otherReason).Str("stack", crashedIn(text)).Msg("the process before ended by a fault")
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err == nil {
		err = debug.SetCrashOutput(f, debug.CrashOptions{})
	}
	if err != nil {
		h.log.Warn().Err(err).Msg("what ends the process will not be written down")
	}
	return otherReason
}

// crashedIn is the stack of the goroutine that a fault ended the process in: the first in Go's
// report; "": there is none.
func crashedIn(report string) string {
	_, stack, ok := strings.Cut("\n"+report, "\ngoroutine ")
	if !ok {
		return ""
	}
	stack, _, _ = strings.Cut(stack, "\n\n")
	return stack
}

// ofTask reports whether a task may be the reason: its goroutine, or one of bleve's, which
// writes for tasks, and merges, was at work. A signal that somebody sent meets any goroutine.
func ofTask(report string) bool {
	if strings.HasPrefix(report, "SIGQUIT: ") || strings.HasPrefix(report, "SIGABRT: ") {
		return false
	}
	stack := crashedIn(report)
	if strings.Contains(stack, "/httpapi") {
		return false
	}
	for _, by := range []string{"/task.(*Queue)", "/bleveindex.", "blevesearch/"} {
		if strings.Contains(stack, by) {
			return true
		}
	}
	return false
}
