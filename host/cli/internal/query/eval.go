package query

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/search/retrieval"
)

// EvalCommand measures how often an index has the answers to questions.
func EvalCommand() *cobra.Command {
	var e evaluation
	cmd := &cobra.Command{
		Use:   "eval FILE",
		Short: "Measure how often a search finds the answers to your questions",
		Long: "Put the questions of FILE to an index, as a chat does, and print how often the answer is within the first 2, 4 and\n" +
			"8 kB of what a model would get, how often it is in the first passage, and how many of the questions that\n" +
			"have no answer are refused. No model is asked. Each line of FILE is an object:\n\n" +
			"  {\"question\": \"How long is the notice?\", \"file\": [\"handbook.md\"], \"answer_regex\": [\"three months\"]}\n\n" +
			"answer_regex are expressions of which one must match the passages, in lower case, without quotes and marks of\n" +
			"Markdown, and with single spaces; without any, a passage of file is an answer. With neither, the question has\n" +
			"no answer. kind groups questions.",
		Example: "  parley eval questions.ndjson --index docs\n" +
			"  parley eval questions.ndjson --index docs --failed --url https://search.example.org",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if e.index == "" {
				return cmdutil.UsageError{Err: errors.New("--index is missing: name the index to ask")}
			}
			rows, err := readQuestions(args[0])
			if err != nil {
				return err
			}
			c, err := cmdutil.OpenClient(cmd)
			if err != nil {
				return err
			}
			return e.run(cmd, c, rows)
		},
	}
	cmd.Flags().StringVar(&e.index, "index", "", "index to ask")
	cmd.Flags().BoolVar(&e.failed, "failed", false, "also print the questions whose answer is not within 4 kB, and those that should be refused")
	return cmdutil.JSONFlag(cmdutil.ClientFlags(cmd, "search"))
}

// A testQuestion is a line of the file.
type testQuestion struct {
	Question string
	Kind     string
	File     []string
	Answer   []string `json:"answer_regex"`

	answers []*regexp.Regexp
}

// answerable reports whether the collection has an answer.
func (q *testQuestion) answerable() bool { return len(q.answers)+len(q.File) > 0 }

// maxQuestions bounds the bytes of a file of questions.
const maxQuestions = 16 << 20

func readQuestions(path string) (rows []testQuestion, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxQuestions))
	lines.Buffer(nil, maxQuestions)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var q testQuestion
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s:%d: want an object of question, file and answer_regex: %w", path, n, err)
		}
		if strings.TrimSpace(q.Question) == "" {
			return nil, fmt.Errorf("%s:%d: there is no question", path, n)
		}
		for _, a := range q.Answer {
			re, err := regexp.Compile(a)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: answer_regex: %w", path, n, err)
			}
			q.answers = append(q.answers, re)
		}
		rows = append(rows, q)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no questions", path)
	}
	return rows, nil
}

// An evaluation asks the questions and counts.
type evaluation struct {
	index  string
	failed bool
}

// bounds are the bytes of passages within which an answer counts.
var bounds = [...]int{2000, 4000, 8000}

// An evalResult is what the questions of one kind came to.
type evalResult struct {
	Kind       string   `json:"kind"`
	Questions  int      `json:"questions"`
	Within2k   int      `json:"within2k"`
	Within4k   int      `json:"within4k"`
	Within8k   int      `json:"within8k"`
	First      int      `json:"first"` // the answer is in the first passage
	Kept       int      `json:"kept"`  // not refused
	NoAnswer   int      `json:"noAnswer"`
	Refused    int      `json:"refused"` // of those without an answer
	Failed     []string `json:"failed,omitempty"`
	Unexpected []string `json:"notRefused,omitempty"`
}

func (e *evaluation) run(cmd *cobra.Command, c *cmdutil.Client, rows []testQuestion) error {
	all := &evalResult{Kind: "all"}
	list := []*evalResult{}
	for i := range rows {
		q := &rows[i]
		var answer struct{ Passages foundPassages }
		body := map[string]any{"q": q.Question, "limit": 0, "passages": map[string]any{"maxBytes": bounds[2]}}
		if err := c.Call(cmd.Context(), http.MethodPost, "/indexes/"+url.PathEscape(e.index)+"/search", body, &answer); err != nil {
			return nameIndexes(cmd.Context(), c, []string{e.index}, err)
		}
		of := slices.IndexFunc(list, func(r *evalResult) bool { return r.Kind == q.Kind })
		if of < 0 {
			of = len(list)
			list = append(list, &evalResult{Kind: q.Kind})
		}
		list[of].count(q, &answer.Passages, e.failed)
		all.count(q, &answer.Passages, e.failed)
	}
	if len(list) == 1 {
		list = nil
	}
	for _, r := range list {
		r.Failed, r.Unexpected = nil, nil // they are in all
	}
	list = append(list, all)
	return cmdutil.PrintResult(cmd, list, func(out io.Writer) error { return printResults(out, list) })
}

// foundPassages are what a search found for a question.
type foundPassages struct {
	Coverage float64
	Hits     []foundPassage
	Words    []struct {
		Word      string
		Worth     float64
		Documents int
		FoundAs   []string
	}
	NoRoom int
}

type foundPassage struct {
	Name, Title, URL, Text string
	Coverage               float64
}

// count adds what was found for a question.
func (r *evalResult) count(q *testQuestion, found *foundPassages, failed bool) {
	refused := len(found.Hits) == 0 || found.Coverage < retrieval.LowCoverage
	if !q.answerable() {
		r.NoAnswer++
		switch {
		case refused:
			r.Refused++
		case failed:
			r.Unexpected = append(r.Unexpected, q.Question)
		}
		return
	}
	r.Questions++
	if !refused {
		r.Kept++
	}
	at, first := found.answerAt(q)
	for i, within := range [...]*int{&r.Within2k, &r.Within4k, &r.Within8k} {
		if at >= 0 && at <= bounds[i] {
			*within++
		}
	}
	if first {
		r.First++
	}
	if failed && (at < 0 || at > bounds[1]) {
		r.Failed = append(r.Failed, q.Question)
	}
}

// answerAt returns how many bytes of passages there are up to the end of the one that has the answer, below 0 where
// none has, and whether that is the first.
func (f *foundPassages) answerAt(q *testQuestion) (bytes int, first bool) {
	for i, h := range f.Hits {
		place := h.Title + "\n" + h.URL + "\n"
		bytes += len(place) + len(h.Text)
		text := plain(place + h.Text)
		has := slices.ContainsFunc(q.answers, func(re *regexp.Regexp) bool { return re.MatchString(text) })
		if len(q.answers) == 0 {
			has = slices.ContainsFunc(q.File, func(file string) bool {
				return h.Name == file || strings.HasPrefix(h.Name, file+" ") || strings.HasPrefix(h.Name, file+",")
			})
		}
		if has {
			return bytes, i == 0
		}
	}
	return -1, false
}

var marks = regexp.MustCompile("[`*|#\"“”'‘’<>\\\\]+")

// plain is a text in lower case without quotes and marks of Markdown, and with single spaces.
func plain(text string) string {
	return strings.Join(strings.Fields(marks.ReplaceAllString(strings.ToLower(text), "")), " ")
}

// printResults prints the table, and the questions that failed.
func printResults(out io.Writer, list []*evalResult) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%-14s %9s %6s %6s %6s %6s %6s %9s\n", "", "questions", "@2k", "@4k", "@8k", "first", "kept", "refused")
	for _, r := range list {
		percent := func(n int) string {
			if r.Questions == 0 {
				return "-"
			}
			return fmt.Sprintf("%d %%", 100*n/r.Questions)
		}
		fmt.Fprintf(b, "%-14.14s %9d %6s %6s %6s %6s %6s %9s\n", oneLine(r.Kind), r.Questions, percent(r.Within2k), percent(r.Within4k), percent(r.Within8k),
			percent(r.First), percent(r.Kept), fmt.Sprintf("%d of %d", r.Refused, r.NoAnswer))
	}
	all := list[len(list)-1]
	for _, part := range []struct {
		title     string
		questions []string
	}{{"\nNot within 4 kB:", all.Failed}, {"\nNot refused:", all.Unexpected}} {
		if len(part.questions) > 0 {
			fmt.Fprintf(b, "%s\n  %s\n", part.title, strings.Join(part.questions, "\n  "))
		}
	}
	_, err := io.WriteString(out, cmdutil.StripControls(b.String()))
	return err
}
