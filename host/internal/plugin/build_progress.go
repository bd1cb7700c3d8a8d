package plugin

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// tellWhile writes a line a second for a person who waits for the build of id, until
// done is called.
func tellWhile(progress io.Writer, id string) (done func()) {
	began, ended := time.Now(), make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		why := "; the first build compiles Go's standard library for WebAssembly, too"
		for {
			select {
			case <-tick.C:
				fmt.Fprintf(progress, "building plugin %s: %.0f s%s\n", id, time.Since(began).Seconds(), why)
				why = ""
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		telling.Wait()
	}
}
