package query

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/search/retrieval"
)

// explain searches again for what the answer was searched for, or for the question, and prints why the passages were
// found: the words with their worth, the passages with what they have of it, and how many had no room.
func (q *asking) explain(cmd *cobra.Command, c *cmdutil.Client) error {
	indexes, err := q.searched(cmd, c)
	if err != nil {
		return err
	}
	queries := q.queries
	if len(queries) == 0 {
		queries = []string{q.question}
	}
	for _, uid := range indexes {
		for _, text := range queries {
			var answer struct{ Passages foundPassages }
			body := map[string]any{"q": text, "limit": 0, "passages": map[string]bool{"explain": true}}
			if err := c.Call(cmd.Context(), http.MethodPost, "/indexes/"+url.PathEscape(uid)+"/search", body, &answer); err != nil {
				return nameIndexes(cmd.Context(), c, []string{uid}, err)
			}
			if _, err := io.WriteString(cmd.OutOrStdout(), answer.Passages.explain(uid, cmdutil.StripControls(text))); err != nil {
				return err
			}
		}
	}
	return nil
}

// searched returns the indexes that the answer may come from.
func (q *asking) searched(cmd *cobra.Command, c *cmdutil.Client) ([]string, error) {
	if len(q.indexes) > 0 {
		return q.indexes, nil
	}
	var settings struct{ IndexUIDs []string }
	if err := c.Call(cmd.Context(), http.MethodGet, "/chats/"+url.PathEscape(workspaceOf(q.workspace))+"/settings", nil, &settings); err == nil && settings.IndexUIDs != nil {
		return settings.IndexUIDs, nil
	}
	var list struct{ Results []struct{ UID string } }
	if err := c.Call(cmd.Context(), http.MethodGet, "/indexes?limit=50", nil, &list); err != nil {
		return nil, fmt.Errorf("--explain cannot find out which indexes are searched; name them with --index: %w", err)
	}
	var uids []string
	for _, i := range list.Results {
		uids = append(uids, i.UID)
	}
	return uids, nil
}

// maxFoundAs bounds the spellings that are printed of a word.
const maxFoundAs = 6

// explain says why the passages were found in the index uid for text.
func (f *foundPassages) explain(uid, text string) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "\nSearch of %s for %q: coverage %.2f", uid, text, f.Coverage)
	if f.Coverage < retrieval.LowCoverage {
		fmt.Fprintf(b, ", below %.2f: the model is told that the documents may not hold the answer", retrieval.LowCoverage)
	}
	b.WriteString("\n\nworth  documents  word\n")
	for _, w := range f.Words {
		others := slices.DeleteFunc(slices.Clone(w.FoundAs), func(s string) bool { return s == w.Word })
		as := ""
		switch {
		case len(w.FoundAs) == 0:
			as = ": in no document"
		case len(others) > 0:
			as = ": also " + strings.Join(others[:min(len(others), maxFoundAs)], ", ")
		}
		fmt.Fprintf(b, "%4.0f %%  %9d  %s%s\n", 100*w.Worth, w.Documents, w.Word, as)
	}
	b.WriteString("\n     coverage  bytes  passage\n")
	for i, h := range f.Hits {
		fmt.Fprintf(b, "%3d. %8.2f  %5d  %s\n", i+1, h.Coverage, len(h.Text), oneLine(h.Name))
	}
	fmt.Fprintf(b, "%d more passages have a word of it, and had no room\n", f.NoRoom)
	return cmdutil.StripControls(b.String())
}
