package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/parley-search/parley/host"
)

// A bar shows how far something is: on a terminal one line that is written
// again and again, elsewhere a line every ten percent.
type bar struct {
	w        io.Writer
	terminal bool
	last     time.Time // that it was drawn
	step     string
	tenths   int64
	open     bool // a line is not ended yet
}

func newBar(w io.Writer) *bar {
	f, ok := w.(*os.File)
	return &bar{w: w, terminal: ok && host.IsTerminal(f), tenths: -1}
}

const barWidth = 40

// show shows done of total; total 0: not known.
func (b *bar) show(step string, done, total int64) {
	if step != b.step {
		b.end()
		b.step, b.tenths = step, -1
	}
	if total <= 0 {
		return
	}
	done = min(done, total)
	if !b.terminal {
		if tenths := 10 * done / total; tenths > b.tenths {
			b.tenths = tenths
			fmt.Fprintf(b.w, "%s %d%%\n", step, 10*tenths)
		}
		return
	}
	now := time.Now()
	if now.Sub(b.last) < 100*time.Millisecond && done < total {
		return
	}
	b.last, b.open = now, true
	full := int(barWidth * done / total)
	fmt.Fprintf(b.w, "\r%-9s [%s%s] %3d%%", step, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*done/total)
}

// end ends the line.
func (b *bar) end() {
	if b.open {
		fmt.Fprintln(b.w)
		b.open = false
	}
}
