package main

import (
	"regexp"
	"strings"
)

// What frameworks put around a question, each seen in what a client sent: elements of their own, fields,
// labels on a line, and passages behind the question. In [wrapped] a cut stands for an element.
var (
	element = regexp.MustCompile(`<([a-z]+(?:[-_][a-z]+)+|context|documents|instructions)>`)
	field   = regexp.MustCompile(`(?is)\[\[ ## (?:question|query|input) ## \]\]\s*(.*?)\s*(?:\[\[ ##|\z)`)
	task    = regexp.MustCompile(`(?is)\b(?:current|new) task:\s*(.*?)\s*(?:\n\s*\n|\n*this is the expected criteria|\n*begin!|\z)`)
	refine  = regexp.MustCompile(`(?i)\boriginal (?:query|question) is as follows:\s*(.+?)\s*(?:\n|\z)`)
	label   = regexp.MustCompile(`(?im)^\s*(?:user(?:'s)? )?(?:question|query)\s*:\s*(.+?)\s*$`)
	context = regexp.MustCompile(`(?im)^\s*(?:context|documents)\s*:`)
	first   = regexp.MustCompile(`(?is)\A\s*(\S.*?)\s*\n\s*(?:context information is below|answer using the following information)\b`)
	wrapped = regexp.MustCompile(`(?s)\A\s*#.*` + cut + `\s*(\S.*?)\s*\z`)
	manner  = regexp.MustCompile(`(?i)^(?:please )?(?:reply|answer|respond|be|keep|use only|write|think|return|do not|don't|cite|format|let's)\b[^?]*$`)
)

// cut is what [cutElements] leaves of an element.
const cut = "\x00"

// askedText returns what of a message asks: without what a framework puts around it, and without sentences
// behind a question that only say how to answer it. What has nothing of that is returned as it is.
func askedText(text string) string {
	outside := cutElements(text)
	if m := wrapped.FindStringSubmatch(outside); m != nil { // instructions, passages, and the question behind them
		return withoutManner(m[1])
	}
	if rest := strings.TrimSpace(strings.ReplaceAll(outside, cut, "")); rest != "" {
		text = rest
	}
	for _, form := range []*regexp.Regexp{field, task, refine} {
		if m := form.FindStringSubmatch(text); m != nil && m[1] != "" {
			return withoutManner(m[1])
		}
	}
	if q := labelled(text); q != "" {
		return withoutManner(q)
	}
	if m := first.FindStringSubmatch(text); m != nil {
		return withoutManner(m[1])
	}
	return withoutManner(text)
}

// labelled returns what is behind the last label of a text of several lines: the last one before the passages
// where they come behind it, since they may have such labels, too. Empty: there is none.
func labelled(text string) string {
	if !strings.Contains(text, "\n") {
		return ""
	}
	all := label.FindAllStringSubmatch(text, -1)
	if at := context.FindStringIndex(text); at != nil {
		if before := label.FindAllStringSubmatch(text[:at[0]], -1); before != nil {
			all = before
		}
	}
	if all == nil {
		return ""
	}
	return all[len(all)-1][1]
}

// cutElements leaves a [cut] for each element of text whose name is a framework's.
func cutElements(text string) string {
	var b strings.Builder
	for {
		m := element.FindStringSubmatchIndex(text)
		if m == nil {
			break
		}
		end := "</" + text[m[2]:m[3]] + ">"
		at := strings.Index(text[m[1]:], end)
		if at < 0 {
			break
		}
		b.WriteString(text[:m[0]] + cut)
		text = text[m[1]+at+len(end):]
	}
	return b.String() + text
}

// withoutManner cuts off the sentences behind the last question that say how to answer.
func withoutManner(text string) string {
	parts := splitSentences(text)
	last := len(parts)
	for last > 0 && manner.MatchString(strings.TrimSpace(parts[last-1])) {
		last--
	}
	if rest := strings.TrimSpace(strings.Join(parts[:last], "")); strings.HasSuffix(rest, "?") {
		return rest
	}
	return text
}
