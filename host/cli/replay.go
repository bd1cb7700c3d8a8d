package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

// A replay is what the operator asked `plugin replay` for.
type replay struct {
	source, dir     string
	baseURL         string
	status, rechunk int
	seed            uint64
	headers         []string
	chunks          bool
}

func pluginReplayCommand() *cobra.Command {
	var r replay
	var aggregate bool
	cmd := &cobra.Command{
		Use:   "replay [--source NAME] BODY",
		Short: "Run a recorded response body through a provider plugin",
		Long: "Run a recorded response body through a provider plugin, exactly as the host would, and print what comes\n" +
			"of it: one JSON object {text, reasoning, refusal, tool_calls, finish_reason, usage, error}, or for a\n" +
			"status that is not a success {status, kind, message, retry_after_ms}; with --chunks the frames that a client sees.\n\n" +
			"BODY is a file, or the folder of one answer that --chat-record-dir made: that says source, status, headers\n" +
			"and baseUrl by itself, and flags given beside it win.\n\n" +
			"The plugin is the newest that the binary carries or --plugin-dir holds, and in a checkout one built from its source.",
		Example: "  parley plugin replay --source vLlm response.body\n" +
			"  parley plugin replay --source openAi --status 429 --header 'Retry-After: 7' error.json\n" +
			"  parley plugin replay recordings/20261121T101500.000-support-1f0c9a2e",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if aggregate && r.chunks {
				return cmdutil.UsageError{Err: errors.New("--chunks and --aggregate are two ways to print: give one")}
			}
			if r.status < 100 || r.status > 599 {
				return cmdutil.UsageError{Err: fmt.Errorf("--status %d is not an HTTP status: give one from 100 to 599", r.status)}
			}
			if r.rechunk < 0 {
				return cmdutil.UsageError{Err: fmt.Errorf("--rechunk %d is not a size: give a number of bytes, or 0 for all at once", r.rechunk)}
			}
			return r.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.source, "source", "", "source that the plugin answers, such as openAi")
	f.StringVar(&r.dir, "plugin-dir", distDir, "directory of <name>-<version>.wasm files")
	f.IntVar(&r.status, "status", http.StatusOK, "HTTP status of the response")
	f.StringArrayVar(&r.headers, "header", nil, "a header of the response, \"Name: value\"; may be given again")
	f.BoolVar(&aggregate, "aggregate", false, "print one object (the default)")
	f.BoolVar(&r.chunks, "chunks", false, "print the frames that a client sees")
	f.IntVar(&r.rechunk, "rechunk", 0, "hand the body over in pieces of at most that many bytes; 0: all at once")
	f.Uint64Var(&r.seed, "seed", 1, "decides where --rechunk cuts")
	f.StringVar(&r.baseURL, "base-url", "", "the workspace's baseUrl, for plugins that take the form of the response from it")
	return cmd
}

func (r *replay) run(cmd *cobra.Command, file string) error {
	header := http.Header{}
	for _, h := range r.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return cmdutil.UsageError{Err: fmt.Errorf("--header %q has no colon: write it as \"Name: value\"", h)}
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	rec, err := r.recording(cmd, file)
	if err != nil {
		return err
	}
	for name, values := range header {
		rec.Header[name] = values
	}
	modules, err := r.modules(cmd)
	if err != nil {
		return err
	}
	t := trial.Options{Compiler: cmdutil.CompilerArgs(), CacheDir: cmdutil.CompiledDir()}
	replayer, err := trial.OpenReplayer(cmd.Context(), r.source, t, modules...)
	if err != nil {
		return err
	}
	defer replayer.Close()
	rec.Rechunk, rec.Seed = r.rechunk, r.seed
	if r.chunks {
		return replayer.Chunks(cmd.Context(), rec, cmd.OutOrStdout())
	}
	result, err := replayer.Aggregate(cmd.Context(), rec)
	if result == nil {
		return err
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetEscapeHTML(false)
	return errors.Join(e.Encode(result), err)
}

// recording reads a body, or a folder that says more of it than that.
func (r *replay) recording(cmd *cobra.Command, path string) (rec trial.Recording, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return rec, fmt.Errorf("read body: %w", err)
	}
	if info.IsDir() {
		var source string
		if rec, source, err = trial.ReadRecording(path); err != nil {
			return rec, err
		}
		r.source = cmp.Or(r.source, source)
	} else {
		rec.Header = http.Header{}
		if rec.Body, err = os.ReadFile(path); err != nil {
			return rec, fmt.Errorf("read body: %w", err)
		}
	}
	if r.source == "" {
		return rec, cmdutil.UsageError{Err: errors.New("a file does not say which plugin it is for: give --source NAME, such as --source openAi")}
	}
	if rec.Status == 0 || cmd.Flags().Changed("status") {
		rec.Status = r.status
	}
	rec.BaseURL = cmp.Or(r.baseURL, rec.BaseURL)
	return rec, nil
}

// modules returns those that answer the source: the directory's where one was
// named, else one built from the sources at hand or carried by the binary, else what
// the default directory holds.
func (r *replay) modules(cmd *cobra.Command) (modules [][]byte, err error) {
	if !cmd.Flags().Changed("plugin-dir") {
		module, err := findModule(cmd.Context(), r.source, cmd.ErrOrStderr())
		if err != nil {
			return nil, err
		}
		if module != nil {
			return [][]byte{module}, nil
		}
	}
	files, err := sysinfo.Glob(r.dir, "*.wasm")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read plugin: %w", err)
		}
		modules = append(modules, b)
	}
	return r.answering(modules)
}

// answering keeps the modules that answer the source; none is an error that
// says which sources there are.
func (r *replay) answering(modules [][]byte) (kept [][]byte, err error) {
	var sources []string
	for _, b := range modules {
		switch source := sourceOf(b); source {
		case r.source:
			kept = append(kept, b)
		case "":
		default:
			sources = append(sources, source)
		}
	}
	if len(kept) == 0 {
		slices.Sort(sources)
		return nil, fmt.Errorf("no plugin answers source %q (here are: %s): name the folder that holds one by --plugin-dir",
			r.source, cmp.Or(strings.Join(slices.Compact(sources), ", "), "none"))
	}
	return kept, nil
}
