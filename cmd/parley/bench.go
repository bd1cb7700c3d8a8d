package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// A benchmark is what the operator asked bench for.
type benchmark struct {
	plan     bench.Plan
	sources  []string
	settings []string
	dir      string
	asJSON   bool
}

// The settings that a host is measured in.
const (
	settingLean = "lean"
	settingStd  = "std"
)

func benchCommand() *cobra.Command {
	b := benchmark{plan: bench.DefaultPlan()}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what the host adds to a stream on this machine",
		Long: "Start a provider whose answers are made up, a proxy that copies bytes (\"floor\", the least that a gateway\n" +
			"can cost), and the host, each as a process of its own on loopback; ask all of them in turns and print\n" +
			"a table: time to the first word (one answer at a time), answers a second and processor time of an\n" +
			"answer (many at once), processor time of a word (words that come apart), and memory.\n\n" +
			"\"lean\" is a host without keys and log; \"std\" one with a master key, an API key and its log written.\n" +
			"\"search\" is an answer that makes one search in 1,200 documents first. Compare rows of one run only.",
		Example: "  parley bench\n" +
			"  parley bench --source vLlm --source gemini --rounds 10\n" +
			"  parley bench --json > before.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	f := cmd.Flags()
	f.IntVar(&b.plan.Rounds, "rounds", b.plan.Rounds, "times that everything is measured, in turns")
	f.IntVar(&b.plan.Streams, "streams", b.plan.Streams, "answers at once")
	f.IntVar(&b.plan.Chunks, "chunks", b.plan.Chunks, "words of an answer")
	f.IntVar(&b.plan.Pause, "pause", b.plan.Pause, "milliseconds between two words of the paced part; 0 leaves it out")
	f.StringSliceVar(&b.sources, "source", benchSources(), "sources to measure")
	f.StringSliceVar(&b.settings, "setting", []string{settingLean, settingStd}, "settings of the host to measure: lean, std")
	f.StringVar(&b.dir, "plugin-dir", "", "directory of <name>-<version>.wasm files (default: built from the checkout)")
	f.BoolVar(&b.asJSON, "json", false, "print JSON, for comparing two versions")
	cmd.AddCommand(benchServerCommand("provider", func([]string) http.Handler { return &bench.Provider{} }),
		benchServerCommand("floor", func(args []string) http.Handler { return bench.Floor(args[1]) }))
	return cmd
}

// benchServerCommand is a part of the measurement that has to be a process of
// its own, so that its cost is nobody else's.
func benchServerCommand(name string, handler func(args []string) http.Handler) *cobra.Command {
	return &cobra.Command{
		Use: name + " ADDR", Hidden: true, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			srv := &http.Server{Addr: args[0], Handler: handler(args)}
			stop := context.AfterFunc(cmd.Context(), func() { _ = srv.Close() })
			defer stop()
			return srv.ListenAndServe()
		},
	}
}

func (b *benchmark) run(cmd *cobra.Command) error {
	p := b.plan
	if p.Rounds < 1 || p.Streams < 1 || p.Chunks < 1 || p.Pause < 0 || p.Streams > 10_000 {
		return usageError{fmt.Errorf("--rounds, --streams (at most 10,000) and --chunks are at least 1, --pause at least 0")}
	}
	for _, s := range b.settings {
		if s != settingLean && s != settingStd {
			return usageError{fmt.Errorf("--setting %s is unknown: there are lean and std", s)}
		}
	}
	known := benchSources()
	for _, s := range b.sources {
		if !slices.Contains(known, s) {
			return usageError{fmt.Errorf("--source %s cannot be measured: there are %v", s, known)}
		}
	}
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bed := &testBed{dir: dir, progress: cmd.ErrOrStderr()}
	defer bed.close()
	subjects, err := bed.lay(cmd.Context(), b)
	if err != nil {
		return err
	}
	fmt.Fprintf(bed.progress, "parley: %d rounds of %d subjects\n", p.Rounds, len(subjects))
	rows, err := bench.Run(cmd.Context(), p, subjects, func(problem string) { fmt.Fprintln(bed.progress, "parley:", problem) })
	if err != nil {
		return err
	}
	if b.asJSON {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"plan": p, "rows": rows})
	}
	return printRows(cmd.OutOrStdout(), rows)
}

// printRows prints the table. What is compared to floor is written as a ratio
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
	fmt.Fprintln(w, "\t\tfirst word p50\tp99\tover direct\tstreams/s\tof floor\tCPU/stream\tof floor\tCPU/word, paced\tof floor\tpeak RSS\tfailed\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%.2f ms\t%.2f ms\t%.2f ms\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", r.Setting, r.Source, r.FirstP50, r.FirstP99, r.FirstP50-direct.FirstP50,
			r.PerSecond, ratio(r.PerSecond, floor.PerSecond), micros(r.Stream), ratio(r.Stream, floor.Stream), micros(r.Paced), ratio(r.Paced, floor.Paced), mebi(r.RSS), r.Failed)
	}
	return w.Flush()
}

func ratio(a, b float64) string {
	if a == 0 || b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f ×", a/b)
}

func micros(us float64) string {
	if us == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f µs", us)
}

func mebi(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f MiB", v)
}
