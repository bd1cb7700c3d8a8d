package main

import (
	"slices"
	"strconv"
	"strings"
)

const (
	equalWorth   = 0.95 // of the best record's, that others have at least that answer as well
	fewestListed = 3
	mostListed   = 10  // records
	maxFields    = 160 // bytes of what is named of one
)

// listRecords returns the answer where the first hits are short records that have the same of a question, as films
// of a director have: all of them, a line each. It returns nil where they are fewer than three.
func listRecords(results []result, asked []string, words []weighted) []string {
	var same []quote
	for _, r := range results[:min(len(results), 1)] {
		for _, h := range inOrder(r, tellingTerms(asked)) {
			q := quote{hit: h, index: r.index, text: h.text, worth: worthOf(h.title+" "+h.text, words)}
			if !isRecord(h.text) || len(same) > 0 && min(q.worth, same[0].worth) < equalWorth*max(q.worth, same[0].worth) {
				break
			}
			if !slices.ContainsFunc(same, func(o quote) bool { return o.id == q.id }) {
				same = append(same, q)
			}
		}
	}
	if len(same) < fewestListed {
		return nil
	}
	n := strconv.Itoa(len(same))
	if len(same) > mostListed {
		n, same = strconv.Itoa(mostListed)+" of "+n, same[:mostListed]
	}
	lines := make([]string, len(same))
	for i := range same {
		q := &same[i]
		place := strings.TrimPrefix(q.cite(), "— ")
		if q.title == "" {
			lines[i] = "- " + q.fields(words) + " " + place
		} else {
			lines[i] = "- " + place + ": " + q.fields(words)
		}
	}
	return []string{"These " + n + " answer:", strings.Join(lines, "\n")}
}

// isRecord reports whether a text is that of a short record: a line for each field, behind its name.
func isRecord(text string) bool {
	first, rest, _ := strings.Cut(text, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	return isField(first) && (isField(second) || rest == "")
}

func isField(line string) bool {
	name, value, ok := strings.Cut(line, ": ")
	return ok && value != "" && name != "" && len(name) <= 40 && !strings.ContainsAny(name, " |`#*>-")
}

// fields returns the fields of a record that have words of the question, on one line.
func (q *quote) fields(words []weighted) string {
	var list []string
	for line := range strings.Lines(q.text) {
		if line = strings.TrimSpace(line); isField(line) && worthOf(line, words) > 0 {
			list = append(list, line)
		}
	}
	if len(list) == 0 {
		line, _, _ := strings.Cut(q.text, "\n")
		list = []string{line}
	}
	return cutText(strings.Join(list, "; "), maxFields)
}
