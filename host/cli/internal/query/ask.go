// Package query has the commands that ask a running service: a question, which it
// answers from documents, or a search.
package query

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// AskCommand asks a question.
func AskCommand() *cobra.Command {
	var q asking
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Ask a running service a question, and print the answer with its sources",
		Long: "Ask a workspace of a running service a question. The answer is printed as it comes, wrapped where it goes to a\n" +
			"terminal, and below it the places that it rests on, by file and\n" +
			"line, and what was found besides. Ctrl-C ends it, and the provider's request with it.",
		Example: "  parley ask 'Which films did Christopher Nolan direct?' --workspace demo\n" +
			"  parley ask 'How do I rotate the key?' --workspace docs --index docs\n" +
			"  parley ask 'Who wrote it?' --workspace demo/gpt-4.1-mini --json --url https://search.example.org",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.question = strings.TrimSpace(strings.Join(args, " "))
			if q.question == "" {
				return cmdutil.UsageError{Err: errors.New("the question is empty")}
			}
			c, err := cmdutil.OpenClient(cmd)
			if err != nil {
				return err
			}
			return q.run(cmd, c)
		},
	}
	cmd.Flags().StringVar(&q.workspace, "workspace", "", "workspace that answers, or WORKSPACE/MODEL (default: the only one that this key may ask, that of quickstart, or the only one with documents)")
	cmd.Flags().StringArrayVar(&q.indexes, "index", nil, "index to search; may be given again (default: all that the workspace searches)")
	cmd.Flags().BoolVar(&q.explains, "explain", false, "also print why the search found what it found: words, passages, what had no room")
	return cmdutil.JSONFlag(cmdutil.ClientFlags(cmd, "chatCompletions and search"))
}

// An asking is a question to a workspace.
type asking struct {
	question, workspace string
	indexes             []string
	explains            bool

	queries []string // that the model searched for
	out     *cmdutil.Wrapper
	hints   io.Writer // for people who wait; nil: nobody does
	cited   []citation
	found   []foundPlace
	answer  json.RawMessage // the whole response
	said    bool            // the answer has a text
	short   string          // why the answer is not whole; empty: it is
}

// A citation is a place that an answer rests on.
type citation struct {
	Title, URL string
	Number     int
	ByWords    bool `json:"by_words"` // the answer uses its words, and does not name it
}

// A foundPlace is what a search gave the model.
type foundPlace struct {
	Filename   string
	Number     int
	Attributes struct {
		Path any
		Line any
	}
}

// name is what the place is called, with the line in its file.
func (f *foundPlace) name() string {
	path, _ := f.Attributes.Path.(string)
	line, _ := f.Attributes.Line.(float64)
	if rest, ok := strings.CutPrefix(f.Filename, path); ok && path != "" && line > 0 {
		return fmt.Sprintf("%s:%d%s", path, int(line), rest)
	}
	return f.Filename
}

func (q *asking) run(cmd *cobra.Command, c *cmdutil.Client) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if err := q.choose(cmd, c); err != nil {
		return err
	}
	q.out = &cmdutil.Wrapper{Out: out, Width: cmdutil.TerminalWidth(out)}
	if asJSON := cmdutil.WantsJSON(cmd); asJSON {
		q.out.Out = io.Discard
	} else if cmdutil.TerminalWidth(cmd.ErrOrStderr()) > 0 {
		q.hints = cmd.ErrOrStderr()
	}
	resp, err := c.Open(ctx, http.MethodPost, "/v1/responses", q.body())
	if refused, ok := errors.AsType[*cmdutil.StatusError](err); ok {
		switch refused.Code {
		case "model_not_found":
			if known, listed := workspaces(ctx, c); listed == nil && !slices.Contains(known, workspaceOf(q.workspace)) {
				return fmt.Errorf("there is no workspace %s: there are %s", workspaceOf(q.workspace), cmdutil.StripControls(strings.Join(known, ", ")))
			}
		case "index_not_found":
			return nameIndexes(ctx, c, q.indexes, err)
		}
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = q.read(resp.Body)
	if ended := q.out.End(); err == nil {
		err = ended
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case cmdutil.WantsJSON(cmd):
		return cmdutil.WriteJSON(out, q.answer)
	}
	if err := q.printSources(out); err != nil || !q.explains {
		return err
	}
	return q.explain(cmd, c)
}

// quickstartWorkspace is the one that `parley quickstart` makes.
const quickstartWorkspace = "demo"

// choose finds the workspace where the caller names none, and says which of several it
// took.
func (q *asking) choose(cmd *cobra.Command, c *cmdutil.Client) error {
	if q.workspace != "" {
		return nil
	}
	known, err := workspaces(cmd.Context(), c)
	switch {
	case err != nil:
		return err
	case len(known) == 0:
		return errors.New("no workspace can answer with this key: make one with PATCH /chats/NAME/settings, and give it a defaultModel where its source needs one")
	case len(known) == 1:
		q.workspace = known[0]
		return nil
	}
	q.workspace = quickstartWorkspace
	if !slices.Contains(known, q.workspace) {
		if q.workspace = onlyWithDocuments(cmd.Context(), c, known); q.workspace == "" {
			return cmdutil.UsageError{Err: fmt.Errorf("--workspace is missing: there are %s", cmdutil.StripControls(strings.Join(known, ", ")))}
		}
	}
	others := slices.DeleteFunc(known, func(uid string) bool { return uid == q.workspace })
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "asking workspace %s; --workspace names another: %s\n", q.workspace, cmdutil.StripControls(strings.Join(others, ", ")))
	return err
}

// onlyWithDocuments returns the one workspace of known whose indexes have documents. It
// is empty where several have some, or the key may not know that.
func onlyWithDocuments(ctx context.Context, c *cmdutil.Client, known []string) (only string) {
	var stats struct {
		Indexes map[string]struct{ NumberOfDocuments int }
	}
	if c.Call(ctx, http.MethodGet, "/stats", nil, &stats) != nil {
		return ""
	}
	for _, uid := range known {
		var settings struct{ IndexUIDs []string }
		if c.Call(ctx, http.MethodGet, "/chats/"+url.PathEscape(uid)+"/settings", nil, &settings) != nil {
			return ""
		}
		searched := settings.IndexUIDs
		if searched == nil { // all
			searched = slices.Collect(maps.Keys(stats.Indexes))
		}
		if !slices.ContainsFunc(searched, func(index string) bool { return stats.Indexes[index].NumberOfDocuments > 0 }) {
			continue
		}
		if only != "" {
			return ""
		}
		only = uid
	}
	return only
}

// workspaces lists those that the key may ask.
func workspaces(ctx context.Context, c *cmdutil.Client) (known []string, err error) {
	var models struct{ Data []struct{ ID string } }
	err = c.Call(ctx, http.MethodGet, "/v1/models", nil, &models)
	for _, m := range models.Data {
		known = append(known, m.ID)
	}
	return known, err
}

// workspaceOf is the workspace of WORKSPACE or WORKSPACE/MODEL.
func workspaceOf(name string) string {
	uid, _, _ := strings.Cut(name, "/")
	return uid
}

// nameIndexes makes of err, which a search of the indexes uids ended with, one that names
// the indexes that there are, where one of them is not there.
func nameIndexes(ctx context.Context, c *cmdutil.Client, uids []string, err error) error {
	var list struct{ Results []struct{ UID string } }
	refused, ok := errors.AsType[*cmdutil.StatusError](err)
	if !ok || refused.Code != "index_not_found" || c.Call(ctx, http.MethodGet, "/indexes?limit=50", nil, &list) != nil || len(list.Results) == 0 { // the key may not list them
		return fmt.Errorf("search index %s: %w", strings.Join(uids, ", "), err)
	}
	var known []string
	for _, i := range list.Results {
		known = append(known, i.UID)
	}
	absent := slices.DeleteFunc(slices.Clone(uids), func(uid string) bool { return slices.Contains(known, uid) })
	return fmt.Errorf("there is no index %s: there are %s", strings.Join(absent, ", "), cmdutil.StripControls(strings.Join(known, ", ")))
}

func (q *asking) body() any {
	tool := map[string]any{"type": "file_search"} // so that searches are told of
	if len(q.indexes) > 0 {
		tool["vector_store_ids"] = q.indexes
	}
	return map[string]any{
		"model": q.workspace, "input": q.question, "stream": true, "store": false, "tools": []any{tool},
		"include": []string{"file_search_call.results"},
	}
}

// responseEvent is an event of a response, as far as it is printed.
type responseEvent struct {
	Type, Delta, Message string
	Annotation           citation
	Item                 struct {
		Type    string
		Queries []string
		Results []foundPlace
	}
	Response json.RawMessage
}

// read prints a response as it comes.
func (q *asking) read(body io.Reader) error {
	lines := bufio.NewReader(io.LimitReader(body, cmdutil.MaxAnswer))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return errors.New("the answer broke off: the service ended the connection")
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue // the event's name, a comment, the line between two
		}
		var e responseEvent
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("read an event of the answer: %w", err)
		}
		done, err := q.take(&e)
		if done || err != nil {
			return err
		}
	}
}

// take takes an event; done says that it was the last.
func (q *asking) take(e *responseEvent) (done bool, err error) {
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		q.said = q.said || strings.TrimSpace(e.Delta) != ""
		return false, q.out.Add(e.Delta)
	case "response.output_text.annotation.added":
		same := func(c citation) bool {
			return c.Number == e.Annotation.Number && c.Title == e.Annotation.Title && c.URL == e.Annotation.URL
		}
		if !slices.ContainsFunc(q.cited, same) {
			q.cited = append(q.cited, e.Annotation)
		}
	case "response.output_item.done":
		if e.Item.Type == "image_generation_call" {
			q.said = true
			return false, q.out.Add("\n(the model drew an image: --json prints it)\n")
		}
		for _, text := range e.Item.Queries {
			if !slices.Contains(q.queries, text) {
				q.queries = append(q.queries, text)
			}
		}
		for _, f := range e.Item.Results {
			if !slices.ContainsFunc(q.found, func(o foundPlace) bool { return o.Number == f.Number }) {
				q.found = append(q.found, f)
			}
		}
		if q.hints != nil && e.Item.Type == "file_search_call" {
			var shown []string
			for _, query := range e.Item.Queries {
				shown = append(shown, cmdutil.StripControls(query))
			}
			fmt.Fprintf(q.hints, "searched for %s\n", strings.Join(shown, ", "))
		}
	case "response.completed", "response.incomplete", "response.failed":
		q.answer = e.Response
		var r struct {
			Error             *struct{ Message string }
			IncompleteDetails *struct{ Reason string } `json:"incomplete_details"`
		}
		if err := json.Unmarshal(e.Response, &r); err != nil {
			return true, fmt.Errorf("read the end of the answer: %w", err)
		}
		if r.Error != nil {
			return true, errors.New(cmdutil.StripControls(r.Error.Message))
		}
		if r.IncompleteDetails != nil {
			q.short = cmdutil.StripControls(r.IncompleteDetails.Reason)
		}
		return true, nil
	case "error":
		return true, errors.New(cmdutil.StripControls(e.Message))
	}
	return false, nil
}

func (q *asking) printSources(out io.Writer) error {
	var b strings.Builder
	if !q.said {
		b.WriteString("(the model answered without a text)\n")
	}
	if q.short != "" {
		fmt.Fprintf(&b, "\n(cut off: %s)\n", q.short)
	}
	if len(q.cited) > 0 {
		b.WriteString("\nSources:\n")
		if q.cited[0].ByWords {
			b.WriteString("(the answer names none; it uses words of these)\n")
		}
	}
	for i, c := range q.cited {
		name := c.Title
		for f := range q.found {
			if q.found[f].Number == c.Number {
				name = q.found[f].name()
			}
		}
		fmt.Fprintf(&b, "%3d. %s  %s\n", cmp.Or(c.Number, i+1), oneLine(name), oneLine(c.URL))
	}
	unused := slices.DeleteFunc(slices.Clone(q.found), func(f foundPlace) bool {
		return slices.ContainsFunc(q.cited, func(c citation) bool { return c.Number == f.Number })
	})
	if len(q.cited) > 0 && len(unused) > 0 {
		b.WriteString("\nFound, and not used:\n")
		for i := range unused {
			fmt.Fprintf(&b, "%3d. %s\n", unused[i].Number, oneLine(unused[i].name()))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// oneLine is a printable text on one line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(cmdutil.StripControls(text)), " ")
}
