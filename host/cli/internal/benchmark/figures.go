package benchmark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// Figures are what a measurement found; parts that were not asked for are nil.
type Figures struct {
	Plan  bench.Plan       `json:"plan"`
	Rows  []bench.Row      `json:"rows"`
	Plain []bench.PlainRow `json:"plain,omitempty"`
	Open  []bench.OpenRow  `json:"open,omitempty"`
}

// measure measures the parts that were asked for.
func (b *benchmark) measure(ctx context.Context, bed *testBed, subjects []bench.Subject) (f Figures, err error) {
	tell := func(problem string) { fmt.Fprintln(bed.progress, "parley:", problem) }
	f.Plan = b.plan
	if slices.Contains(b.parts, partStreams) {
		fmt.Fprintf(bed.progress, "parley: %d rounds of %d subjects\n", b.plan.Rounds, len(subjects))
		if f.Rows, err = bench.Run(ctx, b.plan, subjects, tell); err != nil {
			return f, err
		}
	}
	if slices.Contains(b.parts, partPlain) {
		f.Plain = bench.Plain(ctx, b.plan.Rounds, plainClients, bed.plain, tell)
	}
	if slices.Contains(b.parts, partOpen) {
		for _, n := range b.open {
			f.Open = append(f.Open, b.hold(ctx, n, subjects, tell)...)
		}
	}
	return f, ctx.Err()
}

// hold measures n open streams of each setting's first source.
func (b *benchmark) hold(ctx context.Context, n int, subjects []bench.Subject, tell func(string)) (rows []bench.OpenRow) {
	if err := enoughFiles(n); err != nil {
		tell(fmt.Sprintf("%d open streams are not measured: %v", n, err))
		return nil
	}
	// Long enough for the first to be open still when the last begins.
	pause := 3*time.Second + time.Duration(n)*1200*time.Microsecond
	for i := range subjects {
		if s := &subjects[i]; s.Source == b.sources[0] {
			rows = append(rows, bench.Open(ctx, s, n, pause, tell))
		}
	}
	return rows
}

// print prints the tables.
func (f *Figures) print(out io.Writer) error {
	var errs []error
	if f.Rows != nil {
		errs = append(errs, printRows(out, f.Rows))
	}
	if f.Plain != nil {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "\t\trequests/s\tof floor\tCPU/request\tof floor\tfailed\t")
		floor := f.Plain[0]
		for _, r := range f.Plain {
			fmt.Fprintf(w, "%s\t%s\t%.0f\t%s\t%s\t%s\t%d\t\n", r.Setting, r.Part, r.PerSecond, formatRatio(r.PerSecond, floor.PerSecond), formatMicros(r.Request), formatRatio(r.Request, floor.Request), r.Failed)
		}
		errs = append(errs, w.Flush())
	}
	if f.Open != nil {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "\t\tstreams\topen at once\tRSS\ta stream\tCPU/stream\tfailed\t")
		for _, r := range f.Open {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%.0f kB\t%s\t%d\t\n", r.Setting, r.Source, r.Streams, r.Most, formatMebi(r.RSS), r.PerStream, formatMicros(r.Stream), r.Failed)
		}
		errs = append(errs, w.Flush())
	}
	return errors.Join(errs...)
}

// printRows prints the table of streams. What is compared to floor is written as a ratio
// beside the figure: figures alone say little on a busy machine.
func printRows(out io.Writer, rows []bench.Row) error {
	var direct, floor bench.Row
	for _, r := range rows {
		switch r.Setting {
		case settingDirect:
			direct = r
		case settingFloor:
			floor = r
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t\tfirst chunk p50\tover direct\tfirst word p50\tp99\tover direct\tstreams/s\tof floor\tCPU/stream\tof floor\tCPU/word, paced\tof floor\tpeak RSS\tfailed\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%.2f ms\t%.2f ms\t%.2f ms\t%.2f ms\t%.2f ms\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", r.Setting, r.Source,
			r.ChunkP50, r.ChunkP50-direct.ChunkP50, r.WordP50, r.WordP99, r.WordP50-direct.WordP50,
			r.PerSecond, formatRatio(r.PerSecond, floor.PerSecond), formatMicros(r.Stream), formatRatio(r.Stream, floor.Stream), formatMicros(r.Paced), formatRatio(r.Paced, floor.Paced), formatMebi(r.RSS), r.Failed)
	}
	return w.Flush()
}

func formatRatio(a, b float64) string {
	if a == 0 || b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f ×", a/b)
}

func formatMicros(us float64) string {
	if us == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f µs", us)
}

func formatMebi(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f MiB", v)
}
