// Package benchmark has the commands that measure the host on this machine.
package benchmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// A benchmark is what the operator asked bench for.
type benchmark struct {
	plan     bench.Plan
	sources  []string
	settings []string
	dir      string
	parts    []string
	open     []int
	asJSON   bool
	find     FindModule
}

// FindModule returns the module of the plugin that answers source, or nil where
// there is none to be had; it tells progress of what it builds.
type FindModule func(ctx context.Context, source string, progress io.Writer) ([]byte, error)

// The parts of a measurement.
const (
	partStreams = "streams"
	partPlain   = "plain"
	partOpen    = "open"
)

// plainClients ask for answers that are not streamed.
const plainClients = 64

// The settings that a host is measured in.
const (
	settingLean = "lean"
	settingStd  = "std"
)

// Command makes the command bench, which takes plugins from find where no folder
// of them is named.
func Command(find FindModule) *cobra.Command {
	b := benchmark{plan: bench.DefaultPlan(), find: find}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what the host adds to a stream on this machine",
		Long: "Start a provider whose answers are made up, a proxy that copies bytes (\"floor\", the least that a gateway\n" +
			"can cost), and the host, each as a separate process on loopback; ask all of them in turns and print\n" +
			"a table: time to the first chunk and to the first word, which comes with a later event in OpenAI's form\n" +
			"(one answer at a time), answers a second and processor time of an answer (many at once), processor\n" +
			"time of a word (words that come apart), and memory.\n\n" +
			"\"lean\" is a host without keys and log; \"std\" one with a master key, an API key and its log written.\n" +
			"\"search\" is an answer that makes one search in 1,200 documents first. Compare rows of one run only.\n\n" +
			"The part \"plain\" has 64 clients read the workspaces and one's settings. The part \"open\" holds slow\n" +
			"streams of the first source open, 512 and 10,000 of them, and takes a minute for each setting.",
		Example: "  parley bench\n" +
			"  parley bench --source vLlm --source gemini --rounds 10\n" +
			"  parley bench --part open --source openAi --setting std\n" +
			"  parley bench --json > before.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	f := cmd.Flags()
	f.IntVar(&b.plan.Rounds, "rounds", b.plan.Rounds, "times that everything is measured, in turns")
	f.IntVar(&b.plan.Streams, "streams", b.plan.Streams, "answers at once")
	f.IntVar(&b.plan.Chunks, "chunks", b.plan.Chunks, "words of an answer")
	f.IntVar(&b.plan.Pause, "pause", b.plan.Pause, "milliseconds between two words of the paced part; 0 leaves it out")
	f.StringSliceVar(&b.sources, "source", bench.Sources(), "sources to measure")
	f.StringSliceVar(&b.settings, "setting", []string{settingLean, settingStd}, "settings of the host to measure: lean, std")
	f.StringSliceVar(&b.parts, "part", []string{partStreams, partPlain}, "what to measure: streams, plain, open")
	f.IntSliceVar(&b.open, "open", []int{512, 10_000}, "streams to hold open, in the part of that name")
	f.StringVar(&b.dir, "plugin-dir", "", "directory of <name>-<version>.wasm files (default: built from the checkout)")
	f.BoolVar(&b.asJSON, "json", false, "print JSON, for comparing two versions")
	cmd.AddCommand(searchCommand(), serverCommand("provider", func([]string) http.Handler { return &bench.Provider{} }),
		serverCommand("floor", func(args []string) http.Handler { return bench.Floor(args[1]) }))
	return cmd
}

// serverCommand is a part of the measurement that has to be a process of
// its own, so that its cost is nobody else's.
func serverCommand(name string, handler func(args []string) http.Handler) *cobra.Command {
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
		return cmdutil.UsageError{Err: fmt.Errorf("--rounds, --streams (at most 10,000) and --chunks are at least 1, --pause at least 0")}
	}
	for _, s := range b.settings {
		if s != settingLean && s != settingStd {
			return cmdutil.UsageError{Err: fmt.Errorf("--setting %s is unknown: there are lean and std", s)}
		}
	}
	for _, part := range b.parts {
		if part != partStreams && part != partPlain && part != partOpen {
			return cmdutil.UsageError{Err: fmt.Errorf("--part %s is unknown: there are streams, plain and open", part)}
		}
	}
	for _, n := range b.open {
		if n < 1 || n > 20_000 {
			return cmdutil.UsageError{Err: fmt.Errorf("--open %d: 1 to 20,000 streams are held open", n)}
		}
	}
	if len(b.sources) == 0 {
		return cmdutil.UsageError{Err: errors.New("--source names none")}
	}
	known := bench.Sources()
	for _, s := range b.sources {
		if !slices.Contains(known, s) {
			return cmdutil.UsageError{Err: fmt.Errorf("--source %s cannot be measured: there are %v", s, known)}
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
	f, err := b.measure(cmd.Context(), bed, subjects)
	if err != nil {
		return err
	}
	if b.asJSON {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(f)
	}
	return f.print(cmd.OutOrStdout())
}
