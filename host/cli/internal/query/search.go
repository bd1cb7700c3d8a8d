package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// SearchCommand searches an index.
func SearchCommand() *cobra.Command {
	var q query
	cmd := &cobra.Command{
		Use:   "search INDEX QUERY",
		Short: "Search an index of a running service",
		Long: "Search an index of a running service and print a table of what is found: cut to the terminal's width there, whole and\n" +
			"with a tab between columns elsewhere. --json prints the service's answer.",
		Example: "  parley search movies 'space travel'\n" +
			"  parley search movies nolan --fields id,title,year --filter 'year > 2000' --limit 5\n" +
			"  parley search movies '' --json --url https://search.example.org",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.index, q.text = args[0], args[1]
			if q.index == "" {
				return cmdutil.UsageError{Err: errors.New("the index is empty: name the one to search")}
			}
			if q.limit < 1 {
				return cmdutil.UsageError{Err: fmt.Errorf("--limit is %d: want 1 or more", q.limit)}
			}
			c, err := cmdutil.OpenClient(cmd)
			if err != nil {
				return err
			}
			return q.run(cmd, c)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&q.fields, "fields", nil, "attributes to show, separated by commas (default: those with texts and numbers)")
	f.StringVar(&q.filter, "filter", "", "filter that documents must meet, such as 'year > 2000'")
	f.StringSliceVar(&q.sort, "sort", nil, "what to sort by, such as year:desc")
	f.IntVar(&q.limit, "limit", 10, "how many documents to print")
	f.IntVar(&q.offset, "offset", 0, "how many to pass over")
	return cmdutil.JSONFlag(cmdutil.ClientFlags(cmd, "search"))
}

// A query is a search of an index.
type query struct {
	index, text, filter string
	fields, sort        []string
	limit, offset       int
}

func (q *query) body() map[string]any {
	body := map[string]any{"q": q.text, "limit": q.limit, "offset": q.offset}
	if q.filter != "" {
		body["filter"] = q.filter
	}
	if len(q.sort) > 0 {
		body["sort"] = q.sort
	}
	if len(q.fields) > 0 {
		body["attributesToRetrieve"] = q.fields
	}
	return body
}

func (q *query) run(cmd *cobra.Command, c *cmdutil.Client) error {
	var answer json.RawMessage
	if err := c.Call(cmd.Context(), http.MethodPost, "/indexes/"+url.PathEscape(q.index)+"/search", q.body(), &answer); err != nil {
		return nameIndexes(cmd.Context(), c, []string{q.index}, err)
	}
	if cmdutil.WantsJSON(cmd) {
		return cmdutil.WriteJSON(cmd.OutOrStdout(), answer)
	}
	var found struct {
		Hits               []hit
		EstimatedTotalHits int
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	width := cmdutil.TerminalWidth(cmd.OutOrStdout())
	if err := q.print(cmd.OutOrStdout(), width, found.Hits); err != nil || width == 0 {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d of about %d\n", len(found.Hits), found.EstimatedTotalHits)
	return err
}

// A hit is a document: its attributes in the order in which they came.
type hit struct {
	names  []string          // of texts, numbers, true and false
	values map[string]string // by name, on one line each
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *hit) UnmarshalJSON(b []byte) error {
	r.values = map[string]string{}
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := token.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil || !ok {
			return err
		}
		text := string(v)
		if v[0] == '"' {
			if err := json.Unmarshal(v, &text); err != nil {
				return err
			}
		}
		if r.values[name] = oneLine(text); !strings.ContainsRune("{[n", rune(v[0])) {
			r.names = append(r.names, name)
		}
	}
	return nil
}

// columns are the attributes to show.
func (q *query) columns(rows []hit) []string {
	if len(q.fields) > 0 {
		return q.fields
	}
	var names []string
	for _, r := range rows {
		for _, name := range r.names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// minColumn is how narrow a column may be made before the last ones are left out.
const minColumn = 12

// print prints a table that is at most width columns wide, or as wide as it is
// where that is 0.
func (q *query) print(out io.Writer, width int, rows []hit) error {
	names := q.columns(rows)
	table := [][]string{}
	for _, r := range rows {
		cells := make([]string, len(names))
		for i, name := range names {
			cells[i] = r.values[name]
		}
		table = append(table, cells)
	}
	head := make([]string, len(names))
	for i, name := range names {
		head[i] = oneLine(name)
	}
	table = append([][]string{head}, table...)
	if len(rows) == 0 {
		table = nil
	}
	if width == 0 {
		for _, cells := range table {
			if _, err := fmt.Fprintln(out, strings.Join(cells, "\t")); err != nil {
				return err
			}
		}
		return nil
	}
	widths := FitColumns(table, width)
	for _, cells := range table {
		var b strings.Builder
		for i, wide := range widths {
			cell := runewidth.Truncate(cells[i], wide, "…")
			if i < len(widths)-1 {
				cell = runewidth.FillRight(cell, wide+2)
			}
			b.WriteString(cell)
		}
		if _, err := fmt.Fprintln(out, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// FitColumns returns how wide the columns of a table are made on so many columns of a
// terminal, with two between them: the widest give way first, and the last ones
// are left out where there is no room for all.
func FitColumns(table [][]string, width int) (widths []int) {
	if len(table) == 0 {
		return nil
	}
	for i := range table[0] {
		wide := 0
		for _, cells := range table {
			wide = max(wide, runewidth.StringWidth(cells[i]))
		}
		widths = append(widths, wide)
	}
	for {
		sum, widest := -2, 0
		for i, wide := range widths {
			sum += wide + 2
			if wide > widths[widest] {
				widest = i
			}
		}
		switch {
		case sum <= width || len(widths) == 1 && widths[0] <= 1:
			return widths
		case widths[widest] > minColumn || len(widths) == 1:
			widths[widest] -= min(sum-width, max(1, widths[widest]-minColumn))
			widths[widest] = max(widths[widest], 1)
		default:
			widths = widths[:len(widths)-1]
		}
	}
}
