package plugin

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// tellWhile tells a person who waits for the build of id how long it has taken, until done is
// called: on a terminal in one line, anew each second, elsewhere by a line each ten.
func tellWhile(progress io.Writer, id string) (done func()) {
	began, ended := time.Now(), make(chan struct{})
	before, after, every := "", "\n", 10*time.Second
	if f, ok := progress.(*os.File); ok && isTerminal(f) {
		before, after, every = "\r\x1b[K", "", time.Second
	}
	var telling sync.WaitGroup
	telling.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		why := "; the first build compiles Go's standard library for WebAssembly, which takes about 15 s"
		for {
			select {
			case <-tick.C:
				fmt.Fprintf(progress, "%sbuilding plugin %s: %.0f s%s%s", before, id, time.Since(began).Seconds(), why, after)
				if before == "" {
					why = "" // a line of its own has said it
				}
			case <-ended:
				fmt.Fprint(progress, before)
				return
			}
		}
	})
	return func() {
		close(ended)
		telling.Wait()
	}
}

func isTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
