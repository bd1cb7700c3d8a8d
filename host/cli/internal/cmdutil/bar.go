package cmdutil

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/logs"
)

// A Bar shows how far something is: on a terminal one line that is written
// again and again, elsewhere a line every ten percent.
type Bar struct {
	w        io.Writer
	terminal bool
	last     time.Time // that it was drawn
	step     string
	tenths   int64
	open     bool // a line is not ended yet
}

// NewBar returns a bar that is shown on w.
func NewBar(w io.Writer) *Bar {
	f, ok := w.(*os.File)
	return &Bar{w: w, terminal: ok && logs.IsTerminal(f), tenths: -1}
}

const barWidth = 40

// Show shows done of total; total 0: not known.
func (b *Bar) Show(step string, done, total int64) {
	if step != b.step {
		b.End()
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

// End ends the line.
func (b *Bar) End() {
	if b.open {
		fmt.Fprintln(b.w)
		b.open = false
	}
}
