package benchmark

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/cli/internal/documents"
)

// A searchBenchmark is what the operator asked bench search for.
type searchBenchmark struct {
	documents, format    string
	queries              string
	settings, primaryKey string
	clients              []int
	rounds               int
}

func searchCommand() *cobra.Command {
	var b searchBenchmark
	cmd := &cobra.Command{
		Use:   "search FILE",
		Short: "Measure indexing and searching your own documents on this machine",
		Long: "Start a host on loopback, with a data directory that is deleted at the end, give it the documents of FILE,\n" +
			"and ask it all queries, one client at a time and then several: what it prints is the host's alone.\n\n" +
			"The file of --queries has a query on each line: its words, or the JSON body of a search. In the first row\n" +
			"nobody has asked for these words before; rows after it, and rounds, ask for them again.",
		Example: "  parley bench search packages.ndjson --queries queries.txt\n" +
			"  parley bench search products.csv --queries queries.txt --primary-key sku \\\n    --settings settings.json --clients 1,16\n" +
			"  parley bench search packages.ndjson --queries queries.txt --json > before.json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b.documents = args[0]
			return b.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringVar(&b.queries, "queries", "", "file with a query on each line: words, or the JSON body of a search")
	f.StringVar(&b.format, "format", "", "format of FILE: json, ndjson or csv (default: as its name says)")
	f.StringVar(&b.settings, "settings", "", "JSON file of the index's settings (default: those of a new index)")
	f.StringVar(&b.primaryKey, "primary-key", "", "the documents' attribute with their ids (default: the one that ends in id)")
	f.IntSliceVar(&b.clients, "clients", []int{1, 4}, "clients that ask at once, a row for each number")
	f.IntVar(&b.rounds, "rounds", 1, "times that all queries are asked in each row")
	return cmdutil.JSONFlag(cmd)
}

// SearchFigures are what bench search measures.
type SearchFigures struct {
	Indexing IndexingFigures   `json:"indexing"`
	Searches []bench.SearchRow `json:"searches"`
	PeakRSS  int64             `json:"peak_rss_bytes"` // of the host, indexing and searches; 0 where it cannot be told
	Disk     int64             `json:"disk_bytes"`     // of the data directory
}

// IndexingFigures are what adding the documents costs.
type IndexingFigures struct {
	Documents int     `json:"documents"`
	Seconds   float64 `json:"seconds"`
	CPU       float64 `json:"cpu_seconds"` // 0 where it cannot be told
	PeakRSS   int64   `json:"peak_rss_bytes"`
}

func (b *searchBenchmark) run(cmd *cobra.Command) error {
	if b.queries == "" {
		return cmdutil.UsageError{Err: errors.New("--queries names no file: give one with a query on each line")}
	}
	if b.rounds < 1 || b.rounds > 1000 {
		return cmdutil.UsageError{Err: fmt.Errorf("--rounds is %d: want 1 to 1000", b.rounds)}
	}
	for _, n := range b.clients {
		if n < 1 || n > 1000 {
			return cmdutil.UsageError{Err: fmt.Errorf("--clients has %d: want numbers from 1 to 1000", n)}
		}
	}
	format, err := documents.FormatOf(b.format, b.documents)
	if err != nil {
		return cmdutil.UsageError{Err: err}
	}
	bodies, err := readQueries(b.queries)
	if err != nil {
		return err
	}
	settings := []byte("{}")
	if b.settings != "" {
		if settings, err = os.ReadFile(b.settings); err != nil {
			return fmt.Errorf("read --settings: %w", err)
		}
	}
	documents, err := os.Open(b.documents)
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	defer documents.Close()
	info, err := documents.Stat()
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	most := 1
	for _, n := range b.clients {
		most = max(most, n)
	}
	bed := &testBed{dir: dir, progress: cmd.ErrOrStderr(), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: most, DisableCompression: true}}}
	defer bed.close()
	base, pid, err := bed.start("serve", "--db-path", filepath.Join(dir, "data"), "--plugin-dir", filepath.Join(dir, "plugins"), "--log-level", "off",
		"--http-payload-size-limit", strconv.FormatInt(info.Size()+1<<20, 10))
	if err != nil {
		return err
	}
	tell := func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), what) }
	h := &cmdutil.Client{URL: base}
	var f SearchFigures
	tell(fmt.Sprintf("indexing %s…", b.documents))
	if f.Indexing, err = b.index(cmd.Context(), h, settings, cmdutil.Body{Reader: io.NopCloser(documents), Size: info.Size(), ContentType: contentTypes[format]}, pid); err != nil {
		return err
	}
	subject := &bench.Subject{Target: bench.Target{URL: base + "/indexes/" + measuredIndex + "/search", Client: bed.client}, PID: pid}
	for _, n := range b.clients {
		tell(fmt.Sprintf("%d searches by %d at a time…", b.rounds*len(bodies), n))
		f.Searches = append(f.Searches, bench.Search(cmd.Context(), b.rounds, n, bodies, subject, tell))
	}
	_, f.PeakRSS, _ = bench.RSS(pid)
	var stats struct{ DatabaseSize int64 }
	if err := h.Call(cmd.Context(), http.MethodGet, "/stats", nil, &stats); err != nil {
		return err
	}
	f.Disk = stats.DatabaseSize
	return cmdutil.PrintResult(cmd, f, f.print)
}

// measuredIndex is the index that is measured.
const measuredIndex = "measured"

// readQueries returns the bodies of searches that a file has, one on each line.
func readQueries(name string) (bodies [][]byte, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read --queries: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		switch {
		case len(line) == 0:
		case line[0] != '{':
			body, err := json.Marshal(map[string]string{"q": string(line)})
			if err != nil {
				return nil, err
			}
			bodies = append(bodies, body)
		case !json.Valid(line):
			return nil, fmt.Errorf("read --queries: line %d of %s begins with { and is not a JSON object", n, name)
		default:
			bodies = append(bodies, bytes.Clone(line))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read --queries: %w", err)
	}
	if len(bodies) == 0 {
		return nil, fmt.Errorf("read --queries: %s has no query", name)
	}
	return bodies, nil
}

// contentTypes are those of formats of documents.
var contentTypes = map[string]string{"json": "application/json", "ndjson": "application/x-ndjson", "csv": "text/csv"}

// index has the host index documents, and measures that.
func (b *searchBenchmark) index(ctx context.Context, h *cmdutil.Client, settings json.RawMessage, documents cmdutil.Body, pid int) (f IndexingFigures, err error) {
	if _, err := h.Finish(ctx, http.MethodPatch, "/indexes/"+measuredIndex+"/settings", settings); err != nil {
		return f, err
	}
	used, _ := bench.CPU(pid)
	begun := time.Now()
	path := "/indexes/" + measuredIndex + "/documents"
	if b.primaryKey != "" {
		path += "?primaryKey=" + url.QueryEscape(b.primaryKey)
	}
	task, err := h.Finish(ctx, http.MethodPost, path, documents)
	if err != nil {
		return f, err
	}
	var done struct {
		Details struct{ IndexedDocuments int }
	}
	if err := json.Unmarshal(task, &done); err != nil {
		return f, fmt.Errorf("read the task: %w", err)
	}
	after, _ := bench.CPU(pid)
	f = IndexingFigures{Documents: done.Details.IndexedDocuments, Seconds: time.Since(begun).Seconds(), CPU: (after - used).Seconds()}
	_, f.PeakRSS, _ = bench.RSS(pid)
	return f, nil
}

// print prints the tables.
func (f *SearchFigures) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "documents\tindexed in\tCPU\tpeak RSS\t")
	fmt.Fprintf(w, "%d\t%.1f s\t%s\t%s\t\n", f.Indexing.Documents, f.Indexing.Seconds, formatFigure(f.Indexing.CPU, "%.1f s"), formatMebi(float64(f.Indexing.PeakRSS)/(1<<20)))
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "clients\tsearches\tp50\tp99\tCPU/search\tsearches/s\twithout hits\tfailed\t")
	for _, r := range f.Searches {
		fmt.Fprintf(w, "%d\t%d\t%.2f ms\t%.2f ms\t%s\t%.0f\t%d\t%d\t\n", r.Clients, r.Searches, r.P50, r.P99, formatFigure(r.CPU, "%.2f ms"), r.PerSecond, r.Empty, r.Failed)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "peak RSS\ton disk\t")
	fmt.Fprintf(w, "%s\t%s\t\n", formatMebi(float64(f.PeakRSS)/(1<<20)), formatMebi(float64(f.Disk)/(1<<20)))
	return w.Flush()
}

// formatFigure writes a figure, or a dash where it could not be told.
func formatFigure(v float64, format string) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
