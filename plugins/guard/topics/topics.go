package main

import (
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/match"
)

// topics ends the answer where a word or phrase of its list comes up, in the question or
// in the answer.
type topics struct {
	matcher guard.Config[*match.Matcher]
}

// readTopics makes a pattern of each line of the option topics.
func readTopics(in *guard.In) (*match.Matcher, error) {
	var patterns []string
	for _, line := range strings.Split(in.Option("topics"), "\n") {
		if words := strings.Fields(line); len(words) > 0 {
			patterns = append(patterns, patternOf(words))
		}
	}
	return match.Compile(patterns...)
}

// patternOf returns the pattern of words that follow each other, in either case, with any
// spaces between them. A * at the end of a word stands for any ending.
func patternOf(words []string) string {
	var p strings.Builder
	p.WriteString("(?i)")
	for i, w := range words {
		if i > 0 {
			p.WriteString(`[\s\x{A0}]{1,3}`)
		} else if r, _ := utf8.DecodeRuneInString(w); isLetter(r) {
			p.WriteString(`\b`)
		}
		stem, any := strings.CutSuffix(w, "*")
		for _, r := range stem {
			if r < utf8.RuneSelf && !isLetter(r) {
				p.WriteByte('\\')
			}
			p.WriteRune(r)
		}
		if any {
			p.WriteString(`[^\s\x{A0}.,;:!?()"']{0,30}`)
		}
		if r, _ := utf8.DecodeLastRuneInString(w); i == len(words)-1 && isLetter(r) {
			p.WriteString(`\b`)
		}
	}
	return p.String()
}

// isLetter reports whether r has borders of words around it.
func isLetter(r rune) bool {
	return match.EndsInWord(utf8.AppendRune(nil, r), false)
}

func (g *topics) Check(in *guard.In, out *guard.Out) error {
	m, err := g.matcher.Of(in, readTopics)
	if err != nil {
		return err
	}
	asked := in.Items
	if in.Stage == guard.Question {
		// What was asked before was checked then, and a client sends it again.
		for i, item := range in.Items {
			if item.Kind == abi.ItemAssistant {
				asked = in.Items[i+1:]
			}
		}
	}
	first := len(in.Items) - len(asked)
	for i, found := range in.Each(out, m, nil) {
		if i < first || in.Stage == guard.Question && in.Items[i].Kind != abi.ItemUser {
			continue
		}
		out.Note(0)
		out.Refuse(i, found.Start, in.Option("message"))
		break
	}
	return nil
}
